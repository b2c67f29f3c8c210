import type { ServiceTokenKind, ServiceTokens } from '../accounts/service-tokens.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { appendAuditEntry, inAuditedTransaction } from './audit-chain.js';
import { mintToken, TOKEN_SUBJECT_TYPES } from './mint-token.js';
import type { NewServiceToken } from './mint-token.js';
import { toTokenMetadata } from './token-metadata.js';
import type { IssuedServiceToken, TokenMetadata } from './token-metadata.js';

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
      inAuditedTransaction(database, async (transaction) => {
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

async function findOwnerId(database: Database): Promise<string> {
  const owner = database.selectFrom('people').select('id').where('is_admin', '=', 1);
  const row = await owner.executeTakeFirst();
  if (row !== undefined) return row.id;
  throw new AppError('not_found', 'The server has no owner yet. Open the setup link first.');
}
