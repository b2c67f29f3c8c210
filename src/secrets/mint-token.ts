import type { ServiceTokenKind, ServiceTokens } from '../accounts/service-tokens.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import type { AuditOrigin } from './actor.js';
import { appendAuditEntry, inAuditedTransaction } from './audit-chain.js';
import { parseConsumerName } from './consumer-names.js';
import { toExpiry, toIssuedToken } from './token-metadata.js';
import type { IssuedServiceToken } from './token-metadata.js';

export interface NewServiceToken {
  readonly description: string;
  /** Required for a consumer token; the consumer need not exist yet. */
  readonly consumer?: string | undefined;
  /** 1 to 31536000; 90 days by default. */
  readonly ttlSeconds?: number | undefined;
}

export interface MintContext {
  readonly kind: ServiceTokenKind;
  readonly store: ServiceTokens;
  /** The user that the token belongs to. */
  readonly personId: string;
  /** The id of the actor; absent on the server's command line. */
  readonly issuedBy?: string | undefined;
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
  { origin, ...token }: NewServiceToken & { readonly origin: AuditOrigin },
): Promise<IssuedServiceToken> {
  const issue = {
    kind,
    personId,
    issuedBy,
    label: parseDescription(token.description),
    consumer: kind === 'consumer' ? parseConsumerName(token.consumer ?? '', 'consumer') : undefined,
    createdAt: origin.at,
    expiresAt: toExpiry(origin.at, token.ttlSeconds),
  };
  return inAuditedTransaction(database, async (transaction) => {
    await assertBelowLimit(transaction, kind);
    const issued = await store.issue(transaction, issue);
    const entry = { action: 'create', subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: issued.row.id } as const;
    await appendAuditEntry(transaction, entry, origin);
    return toIssuedToken(issued, origin.at);
  });
}

function parseDescription(text: string): string {
  const description = text.trim();
  if (description !== '' && Array.from(description).length <= MAX_DESCRIPTION && !/\p{Cc}/u.test(description))
    return description;
  const message = `Expected description to be 1 to ${MAX_DESCRIPTION} characters on one line.`;
  throw new AppError('invalid_input', message, { field: 'description' });
}

async function assertBelowLimit(transaction: Database, kind: ServiceTokenKind): Promise<void> {
  const tokens = transaction.selectFrom('tokens').where('kind', '=', kind);
  const { count } = await tokens.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  if (count < MAX_TOKENS[kind]) return;
  throw new AppError(
    'invalid_input',
    `You have reached the limit of ${MAX_TOKENS[kind]} ${kind} tokens. Purge expired or revoked ones first.`,
  );
}
