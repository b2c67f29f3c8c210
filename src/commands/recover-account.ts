import { createRecovery } from '../accounts/invitations.js';
import type { Config } from '../config/config.js';
import { auditPasskeyChange } from '../secrets/audit/chain.js';
import { withAccountDatabase } from './accounts-database.js';
import type { OutputStreams } from './accounts-database.js';

/** Prints a recovery link for a user. @throws StartError for an unknown username. */
export function recoverAccount(config: Config, { out, err }: OutputStreams, user: string): Promise<void> {
  return withAccountDatabase(config, async (database) => {
    const { username, token } = await createRecovery(database, { passkeyListener: auditPasskeyChange }).invite(user);
    const origin = config.publicUrl ?? `http://localhost:${config.port}`;
    const fragment = new URLSearchParams({ invite: token, username });
    err.write(
      `${username} was signed out, and their passkeys were removed. Create a new passkey with this link (valid once, for 1 hour):\n`,
    );
    out.write(`${origin}/sign-in#${fragment.toString()}\n`);
  });
}
