import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { addAccountOptions } from './accounts-database.js';
import type { OutputStreams } from './accounts-database.js';

interface RecoverFlags {
  readonly user: string;
}

/** `trellis accounts`: operations on accounts that only the operator of the server may do. */
export function accountsCommand(streams: OutputStreams): Command {
  const accounts = new Command('accounts').description(
    "Manage accounts on the server's machine, also while the server runs",
  );
  addAccountOptions(accounts.command('recover'), CONFIG_OPTIONS.publicUrl, CONFIG_OPTIONS.port)
    .description('Print a recovery link for a user who lost their passkeys, and remove the old ones')
    .requiredOption('--user <name>', 'username')
    .action(async ({ user, ...flags }: RecoverFlags) => {
      const config = await loadConfig({ flags });
      // Loaded late, so that --help and errors in settings do not wait for the database modules.
      const { recoverAccount } = await import('./recover-account.js');
      await recoverAccount(config, streams, user);
    });
  return accounts;
}
