import { AppError } from '../core/errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { recordEvent, COMMAND_LINE_ACTOR } from './events.js';
import { insertInvitation } from './invitations.js';
import type { PasskeyListener } from './passkey-listener.js';
import { findUserRow } from './users.js';

export interface Recovery {
  /**
   * Lets the operator of the server restore the access of a user who lost all passkeys, including the admin. Deletes the
   * user's sessions and passkeys, and creates an invitation to the existing account. API tokens stay valid.
   *
   * @returns the username as stored, and the secret of the link, which is not stored.
   * @throws AppError `not_found` for an unknown username.
   */
  invite(username: string): Promise<{ readonly username: string; readonly token: string }>;
}

export interface RecoveryDependencies {
  readonly passkeyListener: PasskeyListener;
  readonly now?: () => number;
}

export function createRecovery(
  database: Database,
  { passkeyListener, now = Date.now }: RecoveryDependencies,
): Recovery {
  return {
    invite: (username) =>
      inTransaction(database, async (transaction) => {
        const person = await findUserRow(transaction, username);
        if (person === undefined) throw new AppError('not_found', `No user named "${username}".`);
        const lost = transaction.deleteFrom('passkeys').where('person_id', '=', person.id).returning('id');
        for (const { id } of await lost.execute()) {
          const act = { actor: 'machine', personId: person.id, from: COMMAND_LINE_ACTOR, at: now() } as const;
          await passkeyListener(transaction, { action: 'delete', passkeyId: id, ...act });
        }
        for (const table of ['sessions', 'challenges'] as const) {
          await transaction.deleteFrom(table).where('person_id', '=', person.id).execute();
        }
        const named = { username: person.username, displayName: person.display_name };
        const { token, row } = await insertInvitation(transaction, now(), named);
        const event = {
          actor: 'machine',
          personId: person.id,
          subject: row.id,
          from: COMMAND_LINE_ACTOR,
          at: now(),
        } as const;
        await recordEvent(transaction, { action: 'account_recovered', ...event });
        return { username: person.username, token };
      }),
  };
}
