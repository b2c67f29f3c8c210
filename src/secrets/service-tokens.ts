import { AppError } from '@trellis/core/errors';
import type { IssuedToken, ServiceTokenKind, ServiceTokens } from '../accounts/bearer-tokens.js';
import {
  assertNotRevoked,
  assertRecentSignIn,
  type Caller,
  requireAdminSession,
  type TokenAccess,
  type UserCaller,
  parseAccess,
  parseAddresses,
} from '../accounts/callers.js';
import { type Database, inTransaction } from '../storage/database.js';
import type { TokensTable } from '../storage/tables.js';
import {
  appendAuditEntry,
  type AuditDetail,
  type AuditOrigin,
  type RequestOrigin,
  type SubjectAction,
  toActor,
} from './audit/chain.js';
import { parseConsumerName } from './consumers.js';
import { parseTags, requireUnrestricted } from './token-scope.js';

interface ServiceTokenPage {
  readonly tokens: readonly TokenMetadata[];
  /** The number of tokens on all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/**
 * The tokens of one kind. Write tokens have the permissions of the owner or some of them, and managing them requires the
 * owner's session (`session_required` for a token). Consumer tokens can also be managed with a write token.
 */
export interface ServiceTokenManager {
  /** Returns the tokens oldest first, including expired and revoked ones. */
  list(origin: RequestOrigin, page: { readonly limit?: number; readonly offset?: number }): Promise<ServiceTokenPage>;
  /** @throws AppError `invalid_input` for an invalid description, consumer name or lifetime, and at the limit. */
  create(origin: RequestOrigin, token: NewServiceToken): Promise<IssuedServiceToken>;
  /** Replaces an active token and its expiry; the old one is invalid at once. @throws AppError `not_found`. */
  rotate(origin: RequestOrigin, id: string, ttlSeconds?: number): Promise<IssuedServiceToken>;
  /** Revokes an active token; ignores other ids. */
  revoke(origin: RequestOrigin, id: string): Promise<void>;
  /** Deletes an inactive token. @throws AppError `not_found` for an unknown id, `conflict` for an active token. */
  purge(origin: RequestOrigin, id: string): Promise<void>;
}

const DEFAULT_LIMIT = 50;

const AUTHORIZE: Readonly<Record<ServiceTokenKind, (caller: Caller | undefined) => UserCaller>> = {
  write: requireAdminSession,
  consumer: requireUnrestricted,
};

interface ServiceTokenManagerDependencies {
  readonly kind: ServiceTokenKind;
  readonly store: ServiceTokens;
}

export function createServiceTokenManager(
  database: Database,
  { kind, store }: ServiceTokenManagerDependencies,
): ServiceTokenManager {
  const authorize = AUTHORIZE[kind];

  /** Changes a token and records it in one transaction; `false` from `change` means that nothing changed. */
  async function changeToken<T>(
    { origin, id, action }: { readonly origin: RequestOrigin; readonly id: string; readonly action: SubjectAction },
    change: (transaction: Database) => Promise<T>,
  ): Promise<T> {
    authorize(origin.caller);
    return inTransaction(database, async (transaction) => {
      const result = await change(transaction);
      const entry = { action, subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: id } as const;
      if (result !== false) await appendAuditEntry(transaction, entry, origin);
      return result;
    });
  }

  return {
    async list({ caller, at }, { limit = DEFAULT_LIMIT, offset = 0 }) {
      authorize(caller);
      const all = database.selectFrom('tokens').where('kind', '=', kind);
      const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      const page = all.selectAll().orderBy('created_at').orderBy('id').limit(limit).offset(offset);
      const tokens = (await page.execute()).map((row) => toTokenMetadata(row, at));
      return { tokens, total, next: offset + limit < total ? offset + limit : undefined };
    },
    async create(origin, token) {
      const caller = authorize(origin.caller);
      assertRecentSignIn(caller, origin.at);
      const mint = { kind, store, personId: caller.personId, issuedBy: toActor(caller).id };
      return inTransaction(database, async (transaction) => {
        await assertNotRevoked(transaction, caller);
        return mintToken(transaction, mint, { ...token, origin });
      });
    },
    async rotate(origin, id, ttlSeconds) {
      const caller = authorize(origin.caller);
      assertRecentSignIn(caller, origin.at);
      const expiresAt = toExpiry(origin.at, ttlSeconds);
      return changeToken({ origin, id, action: 'rotate' }, async (transaction) => {
        await assertNotRevoked(transaction, caller);
        const renewed = await store.renew(transaction, { kind, id, at: origin.at }, expiresAt);
        if (renewed === undefined) throw new AppError('not_found', 'No active token with this id.');
        return toIssuedToken(renewed, origin.at);
      });
    },
    async revoke(origin, id) {
      await changeToken({ origin, id, action: 'revoke' }, (transaction) =>
        store.revoke(transaction, { kind, id, at: origin.at }),
      );
    },
    async purge(origin, id) {
      await changeToken({ origin, id, action: 'purge' }, async (transaction) => {
        const outcome = await store.purge(transaction, { kind, id, at: origin.at });
        if (outcome === 'unknown') throw new AppError('not_found', 'No token with this id.');
        if (outcome === 'active') throw new AppError('conflict', 'Revoke the token before purging it.');
      });
    },
  };
}

/**
 * Tokens of the secrets service for the server's command line. No credential is required, as the operator has access
 * to the database; limits and audit entries are the same as in the API.
 */
export interface CliServiceTokens {
  /** @throws AppError `not_found` while the server has no owner; otherwise as {@link mintToken}. */
  create(kind: ServiceTokenKind, token: NewServiceToken): Promise<IssuedServiceToken>;
  /** Returns the tokens oldest first, including expired and revoked ones. */
  list(kind: ServiceTokenKind): Promise<TokenMetadata[]>;
  /** @returns Whether the token was active. */
  revoke(id: string): Promise<boolean>;
}

const KINDS: readonly ServiceTokenKind[] = ['write', 'consumer'];

export function createCliServiceTokens(
  database: Database,
  { store, now = Date.now }: { readonly store: ServiceTokens; readonly now?: () => number },
): CliServiceTokens {
  const originNow = () => ({ caller: 'machine', ip: 'this machine', at: now() }) as const;
  return {
    async create(kind, token) {
      const personId = await findOwnerId(database);
      return mintToken(database, { kind, store, personId }, { ...token, origin: originNow() });
    },
    async list(kind) {
      const rows = database.selectFrom('tokens').selectAll().where('kind', '=', kind);
      return (await rows.orderBy('created_at').orderBy('id').execute()).map((row) => toTokenMetadata(row, now()));
    },
    revoke: (id) =>
      inTransaction(database, async (transaction) => {
        const origin = originNow();
        for (const kind of KINDS) {
          if (!(await store.revoke(transaction, { kind, id, at: origin.at }))) continue;
          const entry = { action: 'revoke', subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: id } as const;
          await appendAuditEntry(transaction, entry, origin);
          return true;
        }
        return false;
      }),
  };
}

export async function findOwnerId(database: Database): Promise<string> {
  const owner = database.selectFrom('people').select('id').where('is_admin', '=', 1);
  const row = await owner.executeTakeFirst();
  if (row !== undefined) return row.id;
  throw new AppError('not_found', 'The server has no owner yet. Open the setup link first.');
}

interface NewServiceToken {
  readonly description: string;
  /** Required for a consumer token; the consumer need not exist yet. */
  readonly consumer?: string;
  /** 1 to 31536000; 90 days by default. */
  readonly ttlSeconds?: number;
  /** The restrictions; a consumer token has only addresses. */
  readonly access?: TokenAccess;
}

interface MintedToken extends NewServiceToken {
  readonly origin: AuditOrigin;
  /** Replaces the lifetime. */
  readonly expiresAt?: Date;
  readonly detail?: AuditDetail;
}

interface MintContext {
  readonly kind: ServiceTokenKind;
  readonly store: ServiceTokens;
  /** The user that the token belongs to. */
  readonly personId: string;
  /** The id of the actor; absent on the server's command line. */
  readonly issuedBy?: string;
}

/** The subject types of the tokens in the audit log. */
export const TOKEN_SUBJECT_TYPES = { write: 'token', consumer: 'consumer_token' } as const;

/** The limits, including expired and revoked tokens. Consumers can be a fleet of machines. */
const MAX_TOKENS: Readonly<Record<ServiceTokenKind, number>> = { write: 1_000, consumer: 10_000 };

/** In characters; the contract has the same limit. */
const MAX_DESCRIPTION = 200;

/**
 * Issues a token and records it in the audit log. Permissions are checked by the caller.
 *
 * @throws AppError `invalid_input` for an invalid description, consumer name or lifetime, and at the limit.
 */
export async function mintToken(
  database: Database,
  { kind, store, personId, issuedBy }: MintContext,
  { origin, detail, ...token }: MintedToken,
): Promise<IssuedServiceToken> {
  const issue = {
    kind,
    personId,
    issuedBy,
    label: parseDescription(token.description),
    consumer: kind === 'consumer' ? parseConsumerName(token.consumer ?? '', 'consumer') : undefined,
    access: token.access && parseTokenAccess(token.access),
    createdAt: origin.at,
    expiresAt: token.expiresAt ?? toExpiry(origin.at, token.ttlSeconds),
  };
  return inTransaction(database, async (transaction) => {
    await assertBelowLimit(transaction, kind);
    const issued = await store.issue(transaction, issue);
    const subject = { subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: issued.row.id };
    await appendAuditEntry(transaction, { action: 'create', ...subject, detail }, origin);
    return toIssuedToken(issued, origin.at);
  });
}

const NAME_PREFIX = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** The limit of the contract for consumers of one secret. */
const MAX_CONSUMERS = 100;

/** Checks the restrictions of a new token. @throws AppError `invalid_input` for an invalid one. */
export function parseTokenAccess({ permissions, namePrefix, ...lists }: TokenAccess): TokenAccess {
  if (namePrefix !== undefined && !NAME_PREFIX.test(namePrefix)) {
    throw invalid('access.name_prefix', 'a beginning of names: 1 to 128 letters, digits, "_" and "-"');
  }
  for (const [name, list] of Object.entries({ permissions, ...lists })) {
    if (list?.length === 0) throw invalid(`access.${name}`, 'at least one entry; omit it for no restriction');
  }
  const { tags, consumers, addresses } = lists;
  if (consumers !== undefined && consumers.length > MAX_CONSUMERS) {
    throw invalid('access.consumers', `at most ${MAX_CONSUMERS} consumers`);
  }
  return {
    permissions: permissions && [...new Set(permissions)],
    namePrefix,
    tags: tags && parseTags(tags),
    consumers: consumers && [...new Set(consumers.map((name) => parseConsumerName(name, 'access.consumers')))],
    addresses: addresses && parseAddresses(addresses),
  };
}

function invalid(field: string, expected: string): AppError {
  return new AppError('invalid_input', `Expected ${field} to be ${expected}.`, { field });
}

function parseDescription(text: string): string {
  const description = text.trim();
  if (description !== '' && Array.from(description).length <= MAX_DESCRIPTION && !/\p{Cc}/u.test(description))
    return description;
  const message = `Expected description to be 1 to ${MAX_DESCRIPTION} characters on one line.`;
  throw new AppError('invalid_input', message, { field: 'description' });
}

async function assertBelowLimit(transaction: Database, kind: ServiceTokenKind): Promise<void> {
  // Tokens of workloads expire soon and are deleted then.
  const tokens = transaction.selectFrom('tokens').where('kind', '=', kind).where('workload_rule', 'is', null);
  const { count } = await tokens.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count < MAX_TOKENS[kind]) return;
  throw new AppError(
    'invalid_input',
    `You have reached the limit of ${MAX_TOKENS[kind]} ${kind} tokens. Purge expired or revoked ones first.`,
  );
}

export type TokenStatus = 'active' | 'expired' | 'revoked';

/** The metadata of a token, without the token itself. */
export interface TokenMetadata {
  readonly id: string;
  readonly description: string;
  /** The consumer of a consumer token. */
  readonly consumer: string | undefined;
  /** The id of the actor who issued it; `undefined` for the server's command line. */
  readonly issuedBy: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** To the minute; `undefined` before the first use. */
  readonly lastUsedAt: Date | undefined;
  /** According to this server's clock; `revoked` takes precedence over `expired`. */
  readonly status: TokenStatus;
  /** The restrictions; `undefined` for none. */
  readonly access: TokenAccess | undefined;
  /** The rule by which it was issued to a workload. */
  readonly rule: string | undefined;
}

/** A new token with its metadata. Only the hash of the token is stored, so it is returned only once. */
type IssuedServiceToken = TokenMetadata & { readonly token: string };

const DAY_SECONDS = 86_400;
const DEFAULT_TTL_SECONDS = 90 * DAY_SECONDS;

const MAX_TTL_SECONDS = 365 * DAY_SECONDS;

/** Returns the end of a lifetime. @throws AppError `invalid_input` for less than a second or more than 365 days. */
function toExpiry(at: number, ttlSeconds = DEFAULT_TTL_SECONDS): Date {
  if (ttlSeconds >= 1 && ttlSeconds <= MAX_TTL_SECONDS) return new Date(at + ttlSeconds * 1_000);
  const message = `Expected ttl_seconds to be between 1 and ${MAX_TTL_SECONDS} (365 days); received ${ttlSeconds}.`;
  throw new AppError('invalid_input', message, { field: 'ttl_seconds' });
}

/** Returns the metadata of a token. @param at The time for its status, in milliseconds. */
function toTokenMetadata(row: TokensTable, at: number): TokenMetadata {
  return {
    id: row.id,
    description: row.label,
    consumer: row.consumer ?? undefined,
    issuedBy: row.issued_by ?? undefined,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    lastUsedAt: row.last_used_at === null ? undefined : new Date(row.last_used_at),
    status: toStatus(row, at),
    access: parseAccess(row.access),
    rule: row.workload_rule ?? undefined,
  };
}

function toIssuedToken({ row, token }: IssuedToken, at: number): IssuedServiceToken {
  return { ...toTokenMetadata(row, at), token };
}

function toStatus({ revoked_at, expires_at }: TokensTable, at: number): TokenStatus {
  if (revoked_at !== null) return 'revoked';
  return expires_at > at ? 'active' : 'expired';
}
