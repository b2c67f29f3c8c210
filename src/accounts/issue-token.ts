import { randomBytes } from 'node:crypto';
import type { Database } from '../storage/database.js';
import { prepareInsert } from '../storage/prepared.js';
import type { TokensTable } from '../storage/tables.js';
import type { Scope } from './callers.js';
import { createToken, hashSecret } from './token-format.js';
import type { TokenKind } from './token-format.js';

export interface IssueTokenOptions {
  readonly kind: TokenKind;
  /** The user who is responsible for the token. */
  readonly personId: string;
  /** The consumer of a consumer token. */
  readonly consumer?: string | undefined;
  /** The id of the actor who issued it; absent for API tokens, and for tokens issued on the command line. */
  readonly issuedBy?: string | undefined;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: Date;
}

const insertToken = prepareInsert('tokens');

/** Creates a token of any kind and stores its hash. The calling code checks the permission to issue it. */
export async function issueToken(
  database: Database,
  { kind, personId, consumer, issuedBy, label, scopes, createdAt, expiresAt }: IssueTokenOptions,
): Promise<{ readonly token: string; readonly row: TokensTable }> {
  const token = createToken(kind);
  const row: TokensTable = {
    id: createTokenId(kind),
    kind,
    hash: hashSecret(token),
    person_id: personId,
    consumer: consumer ?? null,
    label,
    scopes: scopes.join(' '),
    created_at: createdAt,
    expires_at: expiresAt.getTime(),
    last_used_at: null,
    revoked_at: null,
    issued_by: issuedBy ?? null,
  };
  await insertToken(database, row);
  return { token, row };
}

/**
 * The contracts of the two services use different formats. No id starts with a hyphen, which the command line would parse
 * as an option.
 */
function createTokenId(kind: TokenKind): string {
  if (kind !== 'personal') return randomBytes(8).toString('hex');
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? createTokenId(kind) : id;
}
