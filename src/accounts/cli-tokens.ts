import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { COMMAND_LINE_ACTOR } from './events.js';
import { findUserRow } from './users.js';
import { createUserToken, listUserTokens, revokeUserToken } from './tokens.js';
import type { CreatedApiToken, NewApiToken, ApiToken } from './tokens.js';

/**
 * Manages API tokens from the command line. It needs no session, because its user already has access to the database;
 * limits and account events are the same as in the API.
 */
export interface CliTokens {
  /** @throws AppError `not_found` for an unknown username, `invalid_input` as the API does. */
  create(username: string, token: NewApiToken): Promise<CreatedApiToken>;
  /** Lists a user's tokens, oldest first, including expired ones. @throws AppError `not_found` for an unknown username. */
  list(username: string): Promise<ApiToken[]>;
  /** Revokes a token of any user. @throws AppError `not_found` for an unknown id. */
  revoke(id: string): Promise<void>;
}

export function createCliTokens(database: Database, now: () => number = Date.now): CliTokens {
  const origin = () => ({ actor: 'machine', from: COMMAND_LINE_ACTOR, at: now() }) as const;
  return {
    async create(username, token) {
      return createUserToken(database, await findPersonId(database, username), { ...token, ...origin() });
    },
    async list(username) {
      return listUserTokens(database, await findPersonId(database, username));
    },
    async revoke(id) {
      const tokens = database.selectFrom('tokens').select('person_id').where('id', '=', id);
      const row = await tokens.executeTakeFirst();
      const isRevoked = row !== undefined && (await revokeUserToken(database, row.person_id, { id, ...origin() }));
      if (!isRevoked) throw new AppError('not_found', 'No API token with this id.');
    },
  };
}

async function findPersonId(database: Database, username: string): Promise<string> {
  const row = await findUserRow(database, username);
  if (row !== undefined) return row.id;
  throw new AppError('not_found', `No user named "${username}".`, { field: 'username' });
}
