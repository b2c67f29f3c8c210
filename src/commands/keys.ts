import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError } from '../config/startup-error.js';
import { addServerOptions, withServerDatabase } from './server-options.js';

interface Flags {
  readonly config?: string;
  readonly state?: string;
  readonly databaseUrl?: string;
}

/** `trellis keys`: manages the key of the server. */
export function keysCommand(out: NodeJS.WritableStream): Command {
  const keys = new Command('keys').description('Manage the key that encrypts the tokens of code hosts');
  addServerOptions(keys.command('rotate'), CONFIG_OPTIONS.state, CONFIG_OPTIONS.databaseUrl)
    .description('Replace server.key, and encrypt all data with the new key; stop all servers first')
    .action(async (flags: Flags) => {
      const { serverKey, serverKeyCommand } = await loadConfig({ flags: { ...flags } });
      if (serverKey !== undefined || serverKeyCommand !== undefined) {
        const { env } = CONFIG_OPTIONS[serverKey === undefined ? 'serverKeyCommand' : 'serverKey'];
        throw new StartupError(`${env}: the key is not in the state folder, so it can't be replaced there`);
      }
      await withServerDatabase({ ...flags }, async (database, { state }) => {
        const { openStateFolder } = await import('../storage/state-folder.js');
        const { rotateServerKey } = await import('../storage/server-key.js');
        const { reencryptNotifications } = await import('../dashboard/notifications/notifications.js');
        const { reencryptSettings } = await import('../dashboard/settings/settings-rows.js');
        const { replaceAuditKey } = await import('../secrets/audit/sequence.js');
        const folder = await openStateFolder(state);
        try {
          await rotateServerKey(state, database, async (transaction, from, to) => {
            await reencryptSettings(transaction, from, to);
            await reencryptNotifications(transaction, from, to);
            await replaceAuditKey(transaction, from, to);
          });
        } finally {
          folder.close();
        }
        out.write(
          'The server has a new key. Copy server.key to the state folders of its other servers, and back up.\n',
        );
      });
    });
  return keys;
}
