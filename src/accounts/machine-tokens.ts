import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { THIS_MACHINE } from './events.js';
import { findPersonRow } from './people.js';
import { createTokenOf, listTokensOf, revokeTokenOf } from './tokens.js';
import type { CreatedToken, NewToken, PersonalToken } from './tokens.js';

/**
 * Personal API tokens for whoever runs the server and so holds its database:
 * no session is asked for, and the rules and the record are those of the API.
 */
export interface MachineTokens {
  /** @throws AppError `not_found` for an unknown name, `invalid_input` as for a token of one's own. */
  create(username: string, token: NewToken): Promise<CreatedToken>;
  /** Oldest first, expired ones included. @throws AppError `not_found` for an unknown name. */
  list(username: string): Promise<PersonalToken[]>;
  /** Anybody's. @throws AppError `not_found` for an unknown id. */
  revoke(id: string): Promise<void>;
}

export function createMachineTokens(database: Database, now: () => number = Date.now): MachineTokens {
  const act = () => ({ actor: 'machine', from: THIS_MACHINE, at: now() }) as const;
  return {
    async create(username, token) {
      return createTokenOf(database, await findPersonId(database, username), { ...token, ...act() });
    },
    async list(username) {
      return listTokensOf(database, await findPersonId(database, username));
    },
    async revoke(id) {
      const tokens = database.selectFrom('tokens').select('person_id').where('id', '=', id);
      const row = await tokens.executeTakeFirst();
      const isRevoked = row !== undefined && (await revokeTokenOf(database, row.person_id, { id, ...act() }));
      if (!isRevoked) throw new AppError('not_found', 'Expected the id of a personal token; there is none such.');
    },
  };
}

async function findPersonId(database: Database, username: string): Promise<string> {
  const row = await findPersonRow(database, username);
  if (row !== undefined) return row.id;
  throw new AppError('not_found', 'Expected the username of an account; there is none.', { field: 'username' });
}
