import { Command } from 'commander';
import { CONFIG_OPTIONS } from '../config/options.js';
import { addServerOptions, withServerDatabase, type OutputStreams } from './server-options.js';

interface RecoverFlags extends Readonly<Record<string, string>> {
  readonly user: string;
}

/** `trellis accounts`: operations on accounts that only the operator of the server may do. */
export function accountsCommand(streams: OutputStreams): Command {
  const accounts = new Command('accounts').description(
    "Manage accounts on the server's machine, also while the server runs",
  );
  const { state, databaseUrl, publicUrl, port } = CONFIG_OPTIONS;
  addServerOptions(accounts.command('recover'), state, databaseUrl, publicUrl, port)
    .description('Print a recovery link for a user who lost their passkeys, and remove the old ones')
    .requiredOption('--user <name>', 'username')
    .action((flags: RecoverFlags) => recoverAccount(flags, streams));
  addServerOptions(accounts.command('create-admin'), state, databaseUrl)
    .description('Create the first account, the admin, without a browser; "recover" prints a link for its passkey')
    .requiredOption('--user <name>', 'username')
    .action((flags: RecoverFlags) => createFirstAdmin(flags, streams));
  return accounts;
}

/** Creates the first account. @throws StartError if there is one. */
function createFirstAdmin({ user, ...flags }: RecoverFlags, { err }: OutputStreams): Promise<void> {
  return withServerDatabase(flags, async (database) => {
    const { createAdmin } = await import('../accounts/users.js');
    const { username } = await createAdmin(database, { username: user, displayName: user });
    err.write(`Created the admin ${username}. "trellis accounts recover" prints a link for a passkey.\n`);
  });
}

/** Prints a recovery link for a user. @throws StartError for an unknown username. */
function recoverAccount({ user, ...flags }: RecoverFlags, { out, err }: OutputStreams): Promise<void> {
  return withServerDatabase(flags, async (database, config) => {
    const { createRecovery } = await import('../accounts/invitations.js');
    const { auditPasskeyChange } = await import('../secrets/audit/chain.js');
    const { username, token } = await createRecovery(database, { passkeyListener: auditPasskeyChange }).invite(user);
    const origin = config.publicUrl ?? `http://localhost:${config.port}`;
    const fragment = new URLSearchParams({ invite: token, username });
    err.write(
      `${username} was signed out, and their passkeys were removed. Create a new passkey with this link (valid once, for 1 hour):\n`,
    );
    out.write(`${origin}/sign-in#${fragment.toString()}\n`);
  });
}
