import { AppError } from '../core/errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { TokensTable } from '../storage/tables.js';
import type { Caller, Scope } from './callers.js';
import { recordEvent } from './events.js';
import type { AccountActor } from './events.js';
import { issueToken } from './issue-token.js';
import { requireUser, requireSession } from './scopes.js';
import { parseLabel } from './usernames.js';

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
export type CreatedApiToken = ApiToken & { readonly token: string };

export interface NewApiToken {
  readonly label: string;
  readonly expiresAt: Date;
  /** By default only `read`. */
  readonly scopes?: readonly Scope[] | undefined;
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
      return createUserToken(database, actor.personId, { ...token, actor, from, at: now() });
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
export async function createUserToken(
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
export async function listUserTokens(database: Database, personId: string): Promise<ApiToken[]> {
  const rows = await ownTokens(database, personId).selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toPersonalToken);
}

/** Revokes an API token of a user. @returns whether the user had this token. */
export async function revokeUserToken(
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

/** Parses stored scopes, which are separated by spaces. They were validated before they were stored. */
export function parseScopes(text: string): Scope[] {
  return text.split(' ') as Scope[];
}
