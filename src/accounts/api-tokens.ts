import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { TokensTable } from '../storage/tables.js';
import { issueToken, parseScopes } from './bearer-tokens.js';
import {
  assertRecentSignIn,
  assertSessionOpen,
  type Caller,
  requireSession,
  requireUser,
  type Scope,
} from './callers.js';
import { type AccountActor, COMMAND_LINE_ACTOR, recordEvent } from './events.js';
import { findUserRow, parseLabel } from './users.js';

const DAY_MS = 86_400_000;
const MAX_LIFETIME_DAYS = 366;

/** More than a user can keep track of in a list. */
const MAX_TOKENS = 100;

export interface ApiToken {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Precise to the minute; `undefined` if the token was never used. */
  readonly lastUsedAt: Date | undefined;
}

/** A new API token with its value, which is not stored and never shown again. */
type CreatedApiToken = ApiToken & { readonly token: string };

interface NewApiToken {
  readonly label: string;
  readonly expiresAt: Date;
  /** By default only `read`. */
  readonly scopes?: readonly Scope[];
}

/** Manages the caller's API tokens. */
export interface ApiTokens {
  /**
   * Creates an API token.
   *
   * @throws AppError `session_required` for a token; `invalid_input` when the label is blank or longer than 100
   * characters, when the expiry is in the past or more than 366 days away, or when the caller already has 100 tokens.
   */
  create(caller: Caller | undefined, token: NewApiToken, from: string): Promise<CreatedApiToken>;
  /** Lists the caller's tokens, oldest first, including expired ones. */
  list(caller: Caller | undefined): Promise<ApiToken[]>;
  /** Revokes a token, if it is the caller's. @throws AppError `session_required` for a token. */
  revoke(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export function createApiTokens(database: Database, now: () => number = Date.now): ApiTokens {
  return {
    async create(caller, token, from) {
      const actor = requireSession(caller);
      assertRecentSignIn(actor, now());
      return inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, actor);
        return createUserToken(transaction, actor.personId, { ...token, actor, from, at: now() });
      });
    },
    async list(caller) {
      return listUserTokens(database, requireUser(caller).personId);
    },
    async revoke(caller, id, from) {
      const actor = requireSession(caller);
      await revokeUserToken(database, actor.personId, { id, actor, from, at: now() });
    },
  };
}

/** The actor, client address and time of a change. */
interface ChangeOrigin {
  readonly actor: AccountActor;
  readonly from: string;
  readonly at: number;
}

/**
 * Creates an API token of a user. The calling code checks the permission of the actor.
 *
 * @throws AppError `invalid_input` as {@link ApiTokens.create} does.
 */
async function createUserToken(
  database: Database,
  personId: string,
  { label, expiresAt, scopes = ['read'], ...origin }: NewApiToken & ChangeOrigin,
): Promise<CreatedApiToken> {
  assertLifetime(expiresAt.getTime(), origin.at);
  const issue = { personId, label: parseLabel(label), scopes, expiresAt, createdAt: origin.at };
  return inTransaction(database, async (transaction) => {
    await assertBelowLimit(transaction, personId);
    const { token, row } = await issueToken(transaction, { ...issue, kind: 'personal' });
    await recordEvent(transaction, { action: 'token_created', personId, subject: row.id, ...origin });
    return { ...toPersonalToken(row), token };
  });
}

/** Lists a user's API tokens, oldest first, including expired ones. */
async function listUserTokens(database: Database, personId: string): Promise<ApiToken[]> {
  const rows = await ownTokens(database, personId).selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toPersonalToken);
}

/** Revokes an API token of a user. @returns whether the user had this token. */
async function revokeUserToken(
  database: Database,
  personId: string,
  { id, ...origin }: ChangeOrigin & { readonly id: string },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const own = transaction.deleteFrom('tokens').where('person_id', '=', personId).where('kind', '=', 'personal');
    const revoked = await own.where('id', '=', id).returning('id').executeTakeFirst();
    if (revoked === undefined) return false;
    await recordEvent(transaction, { action: 'token_revoked', personId, subject: id, ...origin });
    return true;
  });
}

function ownTokens(database: Database, personId: string) {
  return database.selectFrom('tokens').where('person_id', '=', personId).where('kind', '=', 'personal');
}

const countTokens = prepare((database, { personId }: { readonly personId: string }) =>
  ownTokens(database, personId).select(({ fn }) => fn.countAll<number>().as('count')),
);

function assertLifetime(expiresAt: number, at: number): void {
  // An invalid date is NaN, which fails both comparisons and is rejected too.
  if (expiresAt > at && expiresAt <= at + MAX_LIFETIME_DAYS * DAY_MS) return;
  const message = `Set expiresAt to a time within the next ${MAX_LIFETIME_DAYS} days.`;
  throw new AppError('invalid_input', message, { field: 'expiresAt' });
}

async function assertBelowLimit(transaction: Database, personId: string): Promise<void> {
  const [tokens] = await countTokens(transaction, { personId });
  if (tokens !== undefined && tokens.count >= MAX_TOKENS) {
    throw new AppError('invalid_input', `You have reached the limit of ${MAX_TOKENS} tokens. Revoke one first.`);
  }
}

function toPersonalToken({ id, label, scopes, created_at, expires_at, last_used_at }: TokensTable): ApiToken {
  return {
    id,
    label,
    scopes: parseScopes(scopes),
    createdAt: new Date(created_at),
    expiresAt: new Date(expires_at),
    lastUsedAt: last_used_at === null ? undefined : new Date(last_used_at),
  };
}

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
