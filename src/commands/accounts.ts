import { Command } from 'commander';
import { loadConfig } from '../config.js';
import { SETTINGS } from '../settings.js';
import { withAccountSettings } from './accounts-database.js';
import type { Streams } from './accounts-database.js';

interface RecoverFlags {
  readonly user: string;
}

/** `trellis accounts`: what only whoever runs the server may do with an account. */
export function accountsCommand(streams: Streams): Command {
  const accounts = new Command('accounts').description(
    "people's accounts, on the server's own machine; also while it runs",
  );
  withAccountSettings(accounts.command('recover'), SETTINGS.publicUrl, SETTINGS.port)
    .description('print a link by which somebody who lost their passkeys makes a new one; the old ones end at once')
    .requiredOption('--user <name>', 'whose account it is')
    .action(async ({ user, ...flags }: RecoverFlags) => {
      const config = await loadConfig({ flags });
      // Loading the database takes a moment, which a wrong setting and --help need not wait for.
      const { recoverAccount } = await import('./recover-account.js');
      await recoverAccount(config, streams, user);
    });
  return accounts;
}
