import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { batch } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import type { Database } from '../storage/database.js';
import { prepareBatch, prepareInsert } from '../storage/prepared.js';
import type { TokensTable } from '../storage/tables.js';
import {
  type Caller,
  type Scope,
  type TokenAccess,
  ALL_PERMISSIONS,
  formatAccess,
  isAddressAllowed,
  parseAccess,
} from './callers.js';

/** The minimum time between two writes of the time of last use. */
const LAST_USED_PRECISION_MS = 60_000;

/** Larger batches bring no measurable gain. */
const MAX_BATCH = 32;

const findTokens = prepareBatch((database, { hash }: { readonly hash: string }) =>
  database
    .selectFrom('tokens')
    .innerJoin('people', 'people.id', 'tokens.person_id')
    .select([
      'tokens.id',
      'kind',
      'consumer',
      'scopes',
      'access',
      'expires_at',
      'last_used_at',
      'person_id',
      'username',
      'is_admin',
    ])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
);

type TokenRow = Awaited<ReturnType<typeof findTokens>>[number][number];

/**
 * Finds the caller that a token identifies, at a time in milliseconds.
 *
 * @throws AppError `forbidden` for a token that must not be used from the address.
 */
type FindTokenCaller = (
  token: string,
  from: { readonly at: number; readonly address: string },
) => Promise<Caller | undefined>;

/**
 * Creates a function that finds the caller that a token identifies, and records the time of use. Concurrent lookups share
 * one statement, which never starts before the request, so a revoked token is rejected immediately.
 *
 * The function returns `undefined` when the token is malformed, of a different kind, unknown, revoked or expired;
 * clients can't distinguish these cases.
 */
export function createTokenCallers(database: Database, kinds: readonly TokenKind[]): FindTokenCaller {
  const findToken = batch<string, TokenRow | undefined>(MAX_BATCH, async (take) => {
    const requested = take();
    // A script with concurrent requests uses the same token in all of them.
    const hashes = [...new Set(requested)];
    const found = await findTokens(
      database,
      hashes.map((hash) => ({ hash })),
    );
    const rows = new Map(hashes.map((hash, index) => [hash, found[index]?.[0]]));
    return requested.map((hash) => rows.get(hash));
  });
  return async (token, { at, address }) => {
    const kind = findTokenKind(token);
    if (kind === undefined || !kinds.includes(kind)) return undefined;
    const row = await findToken(hash('sha256', token));
    if (row === undefined || row.expires_at <= at) return undefined;
    const access = parseAccess(row.access);
    if (access && !isAddressAllowed(access, address)) {
      throw new AppError('forbidden', 'The token must not be used from this address.');
    }
    await recordUse(database, row, at);
    return toCaller(row, access);
  };
}

async function recordUse(database: Database, { id, last_used_at: lastUsedAt }: TokenRow, at: number): Promise<void> {
  if (lastUsedAt !== null && at - lastUsedAt < LAST_USED_PRECISION_MS) return;
  await database.updateTable('tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

function toCaller(row: TokenRow, access: TokenAccess | undefined): Caller {
  const { id: tokenId, kind, consumer, person_id: personId, username, is_admin } = row;
  if (consumer !== null) return { kind: 'consumer_token', tokenId, consumer };
  // The column of write tokens is from a release without permissions.
  const scopes = kind === 'write' ? (access?.permissions ?? ALL_PERMISSIONS) : parseScopes(row.scopes);
  return { kind: 'token', tokenId, personId, username, isAdmin: is_admin === 1, scopes, ...(access && { access }) };
}

/** Parses stored scopes, which are separated by spaces. They were validated before they were stored. */
export function parseScopes(text: string): Scope[] {
  return text.split(' ') as Scope[];
}

interface IssueTokenOptions {
  readonly kind: TokenKind;
  /** The user who is responsible for the token. */
  readonly personId: string;
  /** The consumer of a consumer token. */
  readonly consumer?: string;
  /** The id of the actor who issued it; absent for API tokens, and for tokens issued on the command line. */
  readonly issuedBy?: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** The restrictions of a token of the secrets service, validated. */
  readonly access?: TokenAccess;
  /** The rule by which the token is issued to a workload. */
  readonly workloadRule?: string;
  readonly createdAt: number;
  readonly expiresAt: Date;
}

const insertToken = prepareInsert('tokens');

/** Creates a token of any kind and stores its hash. The calling code checks the permission to issue it. */
export async function issueToken(
  database: Database,
  { kind, personId, consumer, issuedBy, label, scopes, access, workloadRule, createdAt, expiresAt }: IssueTokenOptions,
): Promise<{ readonly token: string; readonly row: TokensTable }> {
  const token = createToken(kind);
  const row: TokensTable = {
    id: createTokenId(kind),
    kind,
    hash: hash('sha256', token),
    person_id: personId,
    consumer: consumer ?? null,
    label,
    scopes: scopes.join(' '),
    created_at: createdAt,
    expires_at: expiresAt.getTime(),
    last_used_at: null,
    revoked_at: null,
    issued_by: issuedBy ?? null,
    access: formatAccess(access),
    workload_rule: workloadRule ?? null,
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

/** The kinds of token that stay stored after they expire or are revoked, until they are purged. */
export type ServiceTokenKind = Exclude<TokenKind, 'personal'>;

/** Identifies a token, with the time of the operation. */
interface TokenReference {
  readonly kind: ServiceTokenKind;
  readonly id: string;
  /** Milliseconds; determines whether the token has expired. */
  readonly at: number;
}

/** A new token with its stored row, which contains only its hash. */
export interface IssuedToken {
  readonly token: string;
  readonly row: TokensTable;
}

/** Stores the tokens of a service. The service itself checks permissions and writes its audit log. */
export interface ServiceTokens {
  issue(
    transaction: Database,
    issue: Omit<IssueTokenOptions, 'kind' | 'scopes'> & Pick<TokenReference, 'kind'>,
  ): Promise<IssuedToken>;
  /**
   * Replaces the value and the expiry of a token. The old value becomes invalid immediately.
   *
   * @returns `undefined` unless the token is active.
   */
  renew(transaction: Database, place: TokenReference, expiresAt: Date): Promise<IssuedToken | undefined>;
  /** @returns whether the token was active. */
  revoke(transaction: Database, place: TokenReference): Promise<boolean>;
  /** Deletes an expired or revoked token. */
  purge(transaction: Database, place: TokenReference): Promise<'active' | 'purged' | 'unknown'>;
}

export const serviceTokens: ServiceTokens = {
  // Their kind and their access determine the permissions.
  issue: (transaction, issue) => issueToken(transaction, { ...issue, scopes: ['read', 'write'] }),
  async renew(transaction, place, expiresAt) {
    const token = createToken(place.kind);
    const renewed = { hash: hash('sha256', token), expires_at: expiresAt.getTime() };
    // A token of a workload would otherwise outlive its rule.
    const tokens = active(transaction, place).where('workload_rule', 'is', null);
    const row = await tokens.set(renewed).returningAll().executeTakeFirst();
    return row && { token, row };
  },
  async revoke(transaction, place) {
    const row = await active(transaction, place).set({ revoked_at: place.at }).returning('id').executeTakeFirst();
    return row !== undefined;
  },
  async purge(transaction, { kind, id, at }) {
    const tokens = transaction.selectFrom('tokens').selectAll().where('kind', '=', kind).where('id', '=', id);
    const row = await tokens.executeTakeFirst();
    if (row === undefined) return 'unknown';
    if (row.revoked_at === null && row.expires_at > at) return 'active';
    await transaction.deleteFrom('tokens').where('id', '=', id).execute();
    return 'purged';
  },
};

function active(transaction: Database, { kind, id, at }: TokenReference) {
  return transaction
    .updateTable('tokens')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', at);
}

export type TokenKind = 'consumer' | 'personal' | 'write';

/** Prefixes identify the kind of a token, so that scanners and users recognise a leaked one. */
const PREFIX: Readonly<Record<TokenKind, string>> = { personal: 'trl_', write: 'trs_', consumer: 'trc_' };

const RANDOM_BYTES = 32;
const TOKEN = /^(?<secret>(?<prefix>tr[lsc]_)[\w-]{43})(?<checksum>[0-9A-Za-z]{6})$/;

/**
 * Creates a token: a prefix, 32 random bytes in base64url, and the CRC-32 of both in base62. Only its SHA-256 is stored,
 * as of session ids, challenges and links: all of them are random enough that no salt is needed.
 */
export function createToken(kind: TokenKind): string {
  const secret = PREFIX[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
  return secret + toChecksum(secret);
}

/** Returns the kind of a well-formed token; `undefined` for other texts, including a token with a typo. */
export function findTokenKind(text: string): TokenKind | undefined {
  const { secret = '', prefix, checksum } = TOKEN.exec(text)?.groups ?? {};
  if (checksum !== toChecksum(secret)) return undefined;
  return (Object.keys(PREFIX) as TokenKind[]).find((kind) => PREFIX[kind] === prefix);
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Six digits suffice: 62^6 is more than 2^32. */
function toChecksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < 6) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
