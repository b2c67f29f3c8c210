import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { TokensTable } from '../storage/tables.js';
import type { Caller, Scope } from './callers.js';
import { requirePerson, requireSession } from './scopes.js';
import { issueToken } from './issue-token.js';

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

export interface NewToken {
  readonly label: string;
  readonly expiresAt: Date;
  /** By default `read` alone. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** The personal API tokens of the caller. */
export interface PersonalTokens {
  /**
   * @returns the record and the token itself, which is not kept and never shown again.
   * @throws AppError `session_required` for a token, `invalid_input` when it
   * would expire in the past or in more than 366 days, or there are 100 already.
   */
  create(caller: Caller | undefined, token: NewToken): Promise<PersonalToken & { readonly token: string }>;
  /** Oldest first, expired ones included. */
  list(caller: Caller | undefined): Promise<PersonalToken[]>;
  /** Does nothing for an id that is unknown or another person's. @throws AppError `session_required` for a token. */
  revoke(caller: Caller | undefined, id: string): Promise<void>;
}

export function createPersonalTokens(database: Database, now: () => number = Date.now): PersonalTokens {
  return {
    async create(caller, token) {
      const { personId } = requireSession(caller);
      requireLifetime(token.expiresAt.getTime(), now());
      return inTransaction(database, async (transaction) => {
        await requireRoom(transaction, personId);
        const scopes = token.scopes ?? ['read'];
        const issued = await issueToken(transaction, {
          ...token,
          kind: 'personal',
          personId,
          scopes,
          createdAt: now(),
        });
        return { ...toPersonalToken(issued.row), token: issued.token };
      });
    },
    async list(caller) {
      const rows = await ownTokens(database, requirePerson(caller).personId)
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toPersonalToken);
    },
    async revoke(caller, id) {
      const { personId } = requireSession(caller);
      await database
        .deleteFrom('tokens')
        .where('id', '=', id)
        .where('person_id', '=', personId)
        .where('kind', '=', 'personal')
        .execute();
    },
  };
}

function ownTokens(database: Database, personId: string) {
  return database.selectFrom('tokens').where('person_id', '=', personId).where('kind', '=', 'personal');
}

function requireLifetime(expiresAt: number, at: number): void {
  // Written so that a date that is none is refused too.
  if (expiresAt > at && expiresAt <= at + MAX_LIFETIME_DAYS * DAY_MS) return;
  const message = `Expected expiresAt to lie in the future, at most ${MAX_LIFETIME_DAYS} days from now.`;
  throw new AppError('invalid_input', message, { field: 'expiresAt' });
}

async function requireRoom(transaction: Database, personId: string): Promise<void> {
  const tokens = await ownTokens(transaction, personId).select('id').limit(MAX_TOKENS).execute();
  if (tokens.length === MAX_TOKENS) {
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
