import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { TokensTable } from '../storage/tables.js';
import type { Caller, Scope } from './callers.js';
import { recordEvent } from './events.js';
import type { Actor } from './events.js';
import { issueToken } from './issue-token.js';
import { requirePerson, requireSession } from './scopes.js';
import { parseLabel } from './usernames.js';

const DAY_MS = 86_400_000;
const MAX_LIFETIME_DAYS = 366;

/** More than anyone can tell apart in a list. */
const MAX_TOKENS = 100;

export interface PersonalToken {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To the minute; `undefined` while it has not been used. */
  readonly lastUsedAt: Date | undefined;
}

/** The one answer that holds the token itself, which is not kept and never shown again. */
export type CreatedToken = PersonalToken & { readonly token: string };

export interface NewToken {
  readonly label: string;
  readonly expiresAt: Date;
  /** By default `read` alone. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** The personal API tokens of the caller. */
export interface PersonalTokens {
  /**
   * @throws AppError `session_required` for a token, `invalid_input` when the
   * label is blank or longer than 100 characters, when it would expire in the
   * past or in more than 366 days, or there are 100 already.
   */
  create(caller: Caller | undefined, token: NewToken, from: string): Promise<CreatedToken>;
  /** Oldest first, expired ones included. */
  list(caller: Caller | undefined): Promise<PersonalToken[]>;
  /** Does nothing for an id that is unknown or another person's. @throws AppError `session_required` for a token. */
  revoke(caller: Caller | undefined, id: string, from: string): Promise<void>;
}

export function createPersonalTokens(database: Database, now: () => number = Date.now): PersonalTokens {
  return {
    async create(caller, token, from) {
      const actor = requireSession(caller);
      return createTokenOf(database, actor.personId, { ...token, actor, from, at: now() });
    },
    async list(caller) {
      return listTokensOf(database, requirePerson(caller).personId);
    },
    async revoke(caller, id, from) {
      const actor = requireSession(caller);
      await revokeTokenOf(database, actor.personId, { id, actor, from, at: now() });
    },
  };
}

/** Who did it, from where, and when. */
interface Act {
  readonly actor: Actor;
  readonly from: string;
  readonly at: number;
}

/** Whether the actor may is the caller's to check. @throws AppError `invalid_input` as `create` does. */
export async function createTokenOf(
  database: Database,
  personId: string,
  { label, expiresAt, scopes = ['read'], ...act }: NewToken & Act,
): Promise<CreatedToken> {
  requireLifetime(expiresAt.getTime(), act.at);
  const issue = { personId, label: parseLabel(label), scopes, expiresAt, createdAt: act.at };
  return inTransaction(database, async (transaction) => {
    await requireRoom(transaction, personId);
    const { token, row } = await issueToken(transaction, { ...issue, kind: 'personal' });
    await recordEvent(transaction, { action: 'token_created', personId, subject: row.id, ...act });
    return { ...toPersonalToken(row), token };
  });
}

/** Oldest first, expired ones included. */
export async function listTokensOf(database: Database, personId: string): Promise<PersonalToken[]> {
  const rows = await ownTokens(database, personId).selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toPersonalToken);
}

/** @returns whether the person had such a token. */
export async function revokeTokenOf(
  database: Database,
  personId: string,
  { id, ...act }: Act & { readonly id: string },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const own = transaction.deleteFrom('tokens').where('person_id', '=', personId).where('kind', '=', 'personal');
    const revoked = await own.where('id', '=', id).returning('id').executeTakeFirst();
    if (revoked === undefined) return false;
    await recordEvent(transaction, { action: 'token_revoked', personId, subject: id, ...act });
    return true;
  });
}

function ownTokens(database: Database, personId: string) {
  return database.selectFrom('tokens').where('person_id', '=', personId).where('kind', '=', 'personal');
}

const countTokens = prepare((database, { personId }: { readonly personId: string }) =>
  ownTokens(database, personId).select(({ fn }) => fn.countAll<number>().as('count')),
);

function requireLifetime(expiresAt: number, at: number): void {
  // Written so that a date that is none is refused too.
  if (expiresAt > at && expiresAt <= at + MAX_LIFETIME_DAYS * DAY_MS) return;
  const message = `Expected expiresAt to lie in the future, at most ${MAX_LIFETIME_DAYS} days from now.`;
  throw new AppError('invalid_input', message, { field: 'expiresAt' });
}

async function requireRoom(transaction: Database, personId: string): Promise<void> {
  const [tokens] = await countTokens(transaction, { personId });
  if (tokens !== undefined && tokens.count >= MAX_TOKENS) {
    throw new AppError('invalid_input', `Expected at most ${MAX_TOKENS} tokens; revoke one first.`);
  }
}

function toPersonalToken({ id, label, scopes, created_at, expires_at, last_used_at }: TokensTable): PersonalToken {
  return {
    id,
    label,
    scopes: parseScopes(scopes),
    createdAt: new Date(created_at),
    expiresAt: new Date(expires_at),
    lastUsedAt: last_used_at === null ? undefined : new Date(last_used_at),
  };
}

/** The inverse of joining with spaces; only scopes that were checked on the way in are stored. */
export function parseScopes(text: string): Scope[] {
  return text.split(' ') as Scope[];
}
