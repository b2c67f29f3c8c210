/** The exchange of a token of a workload for a short-lived token (RFC 8693). */
import { createHash } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import type { ServiceTokens } from '../../accounts/bearer-tokens.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { appendAuditEntry, type RequestOrigin } from '../audit/chain.js';
import type { DenialLog, WorkloadClaims } from '../audit/denials.js';
import { findOwnerId, TOKEN_SUBJECT_TYPES } from '../service-tokens.js';
import { type FindIssuerKeys, toIssuerUrl } from './issuer-keys.js';
import { matchesClaims, toRule, type WorkloadRule } from './rules.js';

export interface WorkloadTokens {
  /**
   * Issues a token to a workload, and records its issuer and subject; refused exchanges are recorded as denied requests.
   *
   * @throws AppError `invalid_input` for an invalid token, `forbidden` if no rule accepts its claims, `conflict` if
   * several rules do, `unavailable` if the keys of the issuer cannot be fetched.
   */
  exchange(origin: RequestOrigin, request: ExchangeRequest): Promise<ExchangedToken>;
}

interface ExchangeRequest {
  /** The token of the issuer, a JSON Web Token. */
  readonly subjectToken: string;
  /** The rule to use, if several accept the token. */
  readonly rule?: string;
}

interface ExchangedToken {
  readonly token: string;
  readonly rule: string;
  /** The lifetime in seconds. */
  readonly expiresIn: number;
}

interface WorkloadTokensDependencies {
  readonly store: Pick<ServiceTokens, 'issue'>;
  readonly findKeys: FindIssuerKeys;
  readonly denials: Pick<DenialLog, 'record'>;
}

/** Asymmetric algorithms only: with a symmetric one, the public key of the issuer could sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The allowed difference of the clocks. */
const SKEW_SECONDS = 60;

export function createWorkloadTokens(
  database: Database,
  { store, findKeys, denials }: WorkloadTokensDependencies,
): WorkloadTokens {
  async function exchange(origin: RequestOrigin, { subjectToken, rule }: ExchangeRequest): Promise<ExchangedToken> {
    // Not verified yet, so it may be any value.
    const claimed: unknown = (await decode(subjectToken)).iss;
    const issuer = isIssuer(claimed) ? toIssuerUrl(claimed) : '';
    const rules = await findRules(database, issuer);
    if (rules.length === 0) throw rejected('No rule names the issuer of the token.');
    const claims = await verify(subjectToken, { issuer, rules, findKeys, at: origin.at });
    const chosen = chooseRule(rules, claims, rule);
    return inTransaction(database, async (transaction) => {
      await lockRule(transaction, chosen, origin.at);
      if (chosen.singleUse) await recordUse(transaction, claims);
      return issue(transaction, store, { rule: chosen, claims, origin });
    });
  }
  return {
    async exchange(origin, request) {
      try {
        return await exchange(origin, request);
      } catch (error) {
        if (error instanceof AppError) {
          const workload = await describe(request.subjectToken);
          const { callerName, ip: address } = origin;
          denials.record({
            ...{ operation: 'exchangeToken', caller: undefined, hasCredential: true, address, workload, error },
            ...(callerName !== undefined && { callerName }),
          });
        }
        throw error;
      }
    },
  };
}

/** Reads the claims of a token without verifying it. */
async function decode(token: string): Promise<JWTPayload> {
  const { decodeJwt } = await import('jose');
  try {
    const claims: JWTPayload = decodeJwt(token);
    return claims;
  } catch (cause) {
    throw rejected('The token is not a JSON Web Token.', cause);
  }
}

async function describe(token: string): Promise<WorkloadClaims> {
  const { iss, sub } = await decode(token).catch((): JWTPayload => ({}));
  return {
    ...(typeof iss === 'string' && { issuer: iss.slice(0, 500) }),
    ...(typeof sub === 'string' && { subject: sub.slice(0, 256) }),
  };
}

/** Databases can't search for a text with NUL. */
const isIssuer = (issuer: unknown): issuer is string => typeof issuer === 'string' && !issuer.includes('\0');

async function findRules(database: Database, issuer: string): Promise<WorkloadRule[]> {
  const rows = database.selectFrom('workload_rules').selectAll().where('issuer', '=', issuer).orderBy('name');
  return (await rows.execute()).map(toRule);
}

interface VerifyOptions {
  readonly issuer: string;
  readonly rules: readonly WorkloadRule[];
  readonly findKeys: FindIssuerKeys;
  readonly at: number;
}

async function verify(token: string, { issuer, rules, findKeys, at }: VerifyOptions): Promise<VerifiedClaims> {
  const { errors } = await import('jose');
  const keys = await findKeys(issuer);
  try {
    const { sub, ...payload } = await verifyByAnyKey(token, keys.getKey, {
      ...{ issuer: keys.issuer, algorithms: ALGORITHMS, clockTolerance: SKEW_SECONDS, currentDate: new Date(at) },
      audience: rules.map(({ audience }) => audience),
      requiredClaims: ['exp', 'sub'],
    });
    // The library checks only that it is present.
    if (typeof sub !== 'string') throw rejected('The token was rejected: its claim sub is missing or invalid.');
    return { ...payload, sub };
  } catch (error) {
    // The errors of keys that are too short, and of those that can't be read.
    if (error instanceof TypeError || error instanceof DOMException) {
      throw new AppError('unavailable', `The key of ${issuer} is not valid: ${error.message}.`, { cause: error });
    }
    if (!(error instanceof errors.JOSEError)) throw error;
    throw rejected(`The token was rejected: ${toReason(error)}.`, error);
  }
}

type VerifiedClaims = JWTPayload & { readonly sub: string };

/** Tries all keys that a token may be signed with: it may have no key id, or the issuer may use one for several keys. */
async function verifyByAnyKey(token: string, getKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  const { errors, jwtVerify } = await import('jose');
  try {
    return (await jwtVerify(token, getKey, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Says enough to correct a configuration, and nothing about the rules. */
function toReason({ code, message }: { readonly code: string; readonly message: string }): string {
  const [, claim = ''] = /"(\w+)" claim/.exec(message) ?? [];
  if (code === 'ERR_JWT_EXPIRED') return 'it has expired';
  if (claim === 'nbf') return 'it is not valid yet';
  if (claim === 'aud') return 'its audience (aud) is not that of a rule';
  if (claim !== '') return `its claim ${claim} is missing or invalid`;
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return 'its signature algorithm is not allowed';
  if (code.startsWith('ERR_JWKS')) return 'the issuer does not publish the key that signed it';
  return 'its signature is invalid';
}

/** Several audiences were accepted, so that of each rule is compared again. */
function chooseRule(rules: readonly WorkloadRule[], claims: JWTPayload, name: string | undefined): WorkloadRule {
  const audiences = [claims.aud].flat();
  const accepting = rules.filter((rule) => audiences.includes(rule.audience) && matchesClaims(rule.claims, claims));
  const wanted = accepting.filter((rule) => name === undefined || rule.name === name);
  const [chosen] = wanted;
  if (chosen === undefined) throw new AppError('forbidden', 'No rule accepts the claims of the token.');
  if (wanted.length === 1) return chosen;
  const names = wanted.map((rule) => rule.name).join(', ');
  throw new AppError('conflict', `Several rules accept the token: ${names}. Name one of them.`, { field: 'rule' });
}

/** Stores the time of use, which also makes a concurrent replacement of the rule wait. */
async function lockRule(transaction: Database, { name, createdAt }: WorkloadRule, at: number): Promise<void> {
  const rules = transaction.updateTable('workload_rules').set({ last_used_at: at }).where('name', '=', name);
  const row = await rules.where('created_at', '=', createdAt.getTime()).returning('name').executeTakeFirst();
  if (row === undefined) throw new AppError('forbidden', 'No rule accepts the claims of the token.');
}

/** @throws AppError `invalid_input` for a token that was used before. */
async function recordUse(transaction: Database, { iss = '', jti, exp = 0 }: JWTPayload): Promise<void> {
  if (jti === undefined) throw rejected('The rule accepts a token once, which requires its claim jti.');
  const id = createHash('sha256')
    .update(JSON.stringify([iss, jti]))
    .digest('hex');
  const inserted = await transaction
    .insertInto('workload_used_tokens')
    .values({ id, expires_at: Math.ceil((exp + SKEW_SECONDS) * 1_000) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw rejected('The token was used before.');
}

interface Issue {
  readonly rule: WorkloadRule;
  readonly claims: VerifiedClaims;
  readonly origin: RequestOrigin;
}

async function issue(
  transaction: Database,
  store: Pick<ServiceTokens, 'issue'>,
  { rule, claims, origin }: Issue,
): Promise<ExchangedToken> {
  const { name, consumer, access, ttlSeconds } = rule;
  const kind = consumer === undefined ? 'write' : 'consumer';
  const subject = claims.sub.slice(0, 256);
  const { token, row } = await store.issue(transaction, {
    ...{ kind, consumer, access, label: toLabel(`${name}: ${subject}`), workloadRule: name },
    personId: await findOwnerId(transaction),
    createdAt: origin.at,
    expiresAt: new Date(origin.at + ttlSeconds * 1_000),
  });
  const detail = { rule: name, issuer: rule.issuer, subject };
  const entry = { action: 'create', subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: row.id, detail } as const;
  await appendAuditEntry(transaction, entry, { ...origin, caller: undefined });
  return { token, rule: name, expiresIn: ttlSeconds };
}

/** Control and format characters could manipulate a terminal that shows the token. */
const toLabel = (text: string): string => text.replace(/\p{C}+/gu, ' ').slice(0, 200);

/** RFC 8693 determines the status of invalid tokens, 400. */
const rejected = (message: string, cause?: unknown): AppError =>
  new AppError('invalid_input', message, { field: 'subject_token', cause });

/** Deletes expired tokens of workloads, and the record of issuers' tokens that have expired. */
export async function deleteExpiredWorkloadTokens(database: Database, at: number): Promise<void> {
  const tokens = database.deleteFrom('tokens').where('workload_rule', 'is not', null);
  await tokens.where('expires_at', '<=', at).execute();
  await database.deleteFrom('workload_used_tokens').where('expires_at', '<=', at).execute();
}
