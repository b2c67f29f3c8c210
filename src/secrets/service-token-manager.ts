import type { Caller } from '../accounts/callers.js';
import { requireAdminSession, requireOwner } from '../accounts/scopes.js';
import type { UserCaller } from '../accounts/scopes.js';
import type { ServiceTokenKind, ServiceTokens } from '../accounts/service-tokens.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { toActor } from './actor.js';
import type { RequestOrigin } from './actor.js';
import { appendAuditEntry, inAuditedTransaction } from './audit-chain.js';
import type { SubjectAction } from './audit-actions.js';
import { mintToken, TOKEN_SUBJECT_TYPES } from './mint-token.js';
import type { NewServiceToken } from './mint-token.js';
import { toExpiry, toIssuedToken, toTokenMetadata } from './token-metadata.js';
import type { IssuedServiceToken, TokenMetadata } from './token-metadata.js';

export interface ServiceTokenPage {
  readonly tokens: readonly TokenMetadata[];
  /** The number of tokens on all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last one. */
  readonly next: number | undefined;
}

/**
 * The tokens of one kind. Write tokens have the permissions of the owner, and managing them requires the owner's
 * session (`session_required` for a token). Consumer tokens can also be managed with a write token.
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
  consumer: requireOwner,
};

export interface ServiceTokenManagerDependencies {
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
    return inAuditedTransaction(database, async (transaction) => {
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
      const mint = { kind, store, personId: caller.personId, issuedBy: toActor(caller).id };
      return mintToken(database, mint, { ...token, origin });
    },
    async rotate(origin, id, ttlSeconds) {
      const expiresAt = toExpiry(origin.at, ttlSeconds);
      return changeToken({ origin, id, action: 'rotate' }, async (transaction) => {
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
