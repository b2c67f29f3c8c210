import { AppError } from '@trellis/core/errors';
import {
  assertRecentSignIn,
  assertSessionOpen,
  type Caller,
  requireAdminSession,
  type TokenAccess,
  formatAccess,
  parseAccess,
} from '../../accounts/callers.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { WorkloadRulesTable } from '../../storage/tables.js';
import { appendAuditEntry, type AuditOrigin, type RequestOrigin } from '../audit/chain.js';
import { parseConsumerName } from '../consumers.js';
import { parseTokenAccess } from '../service-tokens.js';
import { isIssuerUrl } from './issuer-keys.js';

/** A rule by which the server issues short-lived tokens to workloads. */
export interface WorkloadRule extends Required<Omit<NewWorkloadRule, 'access' | 'consumer'>> {
  readonly consumer: string | undefined;
  readonly access: TokenAccess | undefined;
  /** The time of the last replacement. */
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastUsedAt: Date | undefined;
}

export interface NewWorkloadRule {
  readonly name: string;
  /** The URL of the issuer, its `iss` claim. */
  readonly issuer: string;
  /** A value that the `aud` claim must contain. */
  readonly audience: string;
  readonly claims: readonly ClaimRule[];
  /** The consumer of the issued tokens; absent for write tokens. */
  readonly consumer?: string;
  /** The restrictions of the issued tokens; permissions are required for write tokens. */
  readonly access?: TokenAccess;
  /** 60 to 43200; 900 by default. */
  readonly ttlSeconds?: number;
  /** Whether a token of the issuer is accepted once only. */
  readonly singleUse?: boolean;
}

/** The rules of the owner. All methods require the owner's session. */
export interface WorkloadRules {
  /** Returns the rules by name. */
  list(caller: Caller | undefined): Promise<WorkloadRule[]>;
  /** Creates or replaces a rule. @throws AppError `invalid_input` for an invalid rule, and at the limit. */
  put(origin: RequestOrigin, rule: NewWorkloadRule): Promise<WorkloadRule>;
  /** @throws AppError `not_found`. */
  remove(origin: RequestOrigin, name: string): Promise<void>;
}

export function createWorkloadRules(database: Database): WorkloadRules {
  const rules = createCliWorkloadRules(database);
  return {
    async list(caller) {
      requireAdminSession(caller);
      return rules.list();
    },
    async put(origin, rule) {
      const session = requireAdminSession(origin.caller);
      assertRecentSignIn(session, origin.at);
      return inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, session);
        return createCliWorkloadRules(transaction).put(origin, rule);
      });
    },
    async remove(origin, name) {
      requireAdminSession(origin.caller);
      await rules.remove(origin, name);
    },
  };
}

/** The rules for the server's command line, which requires no credential. */
export interface CliWorkloadRules {
  list(): Promise<WorkloadRule[]>;
  put(origin: AuditOrigin, rule: NewWorkloadRule): Promise<WorkloadRule>;
  remove(origin: AuditOrigin, name: string): Promise<void>;
}

/** Far more than an owner has repositories with different rules. */
const MAX_RULES = 500;

export function createCliWorkloadRules(database: Database): CliWorkloadRules {
  return {
    async list() {
      const rows = database.selectFrom('workload_rules').selectAll().orderBy('name');
      return (await rows.execute()).map(toRule);
    },
    async put(origin, rule) {
      const row = toRow(rule, origin.at);
      return inTransaction(database, async (transaction) => {
        const { name, ...columns } = row;
        const isKnown = await endRule(transaction, name, origin.at);
        if (!isKnown) await assertBelowLimit(transaction);
        await transaction
          .insertInto('workload_rules')
          .values({ name, ...columns })
          .execute();
        const action = isKnown ? 'update' : 'create';
        const detail = { issuer: row.issuer };
        await appendAuditEntry(transaction, { action, subjectType: 'workload_rule', subjectId: name, detail }, origin);
        return toRule(row);
      });
    },
    async remove(origin, name) {
      await inTransaction(database, async (transaction) => {
        if (!(await endRule(transaction, name, origin.at))) throw new AppError('not_found', 'No rule with this name.');
        const entry = { action: 'delete', subjectType: 'workload_rule', subjectId: name } as const;
        await appendAuditEntry(transaction, entry, origin);
      });
    },
  };
}

/** Deletes a rule and revokes its tokens. @returns whether it existed. */
async function endRule(transaction: Database, name: string, at: number): Promise<boolean> {
  const deleted = transaction.deleteFrom('workload_rules').where('name', '=', name).returning('name');
  if ((await deleted.executeTakeFirst()) === undefined) return false;
  const tokens = transaction.updateTable('tokens').set({ revoked_at: at }).where('workload_rule', '=', name);
  await tokens.where('revoked_at', 'is', null).where('expires_at', '>', at).execute();
  return true;
}

async function assertBelowLimit(transaction: Database): Promise<void> {
  const rules = transaction.selectFrom('workload_rules').select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = await rules.executeTakeFirstOrThrow();
  if (count >= MAX_RULES) throw new AppError('invalid_input', `You have reached the limit of ${MAX_RULES} rules.`);
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

const DEFAULT_TTL_SECONDS = 900;
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 43_200;

/** Checks a rule. The contract limits the lengths; the command line has no contract. */
function toRow(rule: NewWorkloadRule, at: number): WorkloadRulesTable {
  const { name, issuer, audience, claims, consumer, access, ttlSeconds = DEFAULT_TTL_SECONDS, singleUse } = rule;
  if (!NAME.test(name)) throw invalid('name', '1 to 64 characters of a-z, 0-9 and "-"');
  if (issuer.length > 500 || !isIssuerUrl(issuer) || /[?#]|\/$/.test(issuer)) {
    throw invalid('issuer', 'an https URL without query, fragment and trailing slash');
  }
  if (audience === '' || audience.length > 256) throw invalid('audience', '1 to 256 characters');
  checkClaims(claims);
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS) {
    throw invalid('ttl_seconds', `between ${MIN_TTL_SECONDS} and ${MAX_TTL_SECONDS}`);
  }
  const limits = access && parseTokenAccess(access);
  checkLimits(consumer, limits);
  return {
    ...{ name, issuer, audience, claims: JSON.stringify(claims) },
    consumer: consumer === undefined ? null : parseConsumerName(consumer, 'consumer'),
    access: formatAccess(limits),
    ttl_seconds: ttlSeconds,
    single_use: singleUse === true ? 1 : 0,
    created_at: at,
    last_used_at: null,
  };
}

function checkClaims(claims: readonly ClaimRule[]): void {
  const isComplete = claims.every(({ name, patterns }) => name !== '' && patterns.length > 0 && !patterns.includes(''));
  if (!isComplete || claims.length > 20 || claims.some(({ patterns }) => patterns.length > 20)) {
    throw invalid('claims', 'at most 20 claims, each with a name and 1 to 20 patterns');
  }
  if (claims.some(({ name, patterns }) => name.length > 64 || patterns.some((pattern) => pattern.length > 256))) {
    throw invalid('claims', 'names of at most 64 characters and patterns of at most 256');
  }
  if (isRestricted(claims)) return;
  const message =
    'The claims accept too many workloads: one claim needs patterns such as "acme/shop", "repo:acme/*" or ' +
    '"system:serviceaccount:shop:*", whose text before the first wildcard names the owner. A branch, a workflow or an ' +
    'environment does not.';
  throw new AppError('invalid_input', message, { field: 'claims' });
}

function checkLimits(consumer: string | undefined, access: TokenAccess | undefined): void {
  if (consumer === undefined) {
    if (access?.permissions === undefined) throw invalid('access.permissions', 'present in a rule without a consumer');
    return;
  }
  const { permissions, namePrefix, tags, consumers } = access ?? {};
  if ((permissions ?? namePrefix ?? tags ?? consumers) !== undefined) {
    throw invalid('access', 'only addresses in a rule with a consumer');
  }
}

function invalid(field: string, expected: string): AppError {
  return new AppError('invalid_input', `Expected ${field} to be ${expected}.`, { field });
}

/** Parses a stored rule, which was validated before it was stored. */
export function toRule(row: WorkloadRulesTable): WorkloadRule {
  return {
    ...{ name: row.name, issuer: row.issuer, audience: row.audience },
    claims: JSON.parse(row.claims) as ClaimRule[],
    consumer: row.consumer ?? undefined,
    access: parseAccess(row.access),
    ttlSeconds: row.ttl_seconds,
    singleUse: row.single_use === 1,
    createdAt: new Date(row.created_at),
    lastUsedAt: row.last_used_at === null ? undefined : new Date(row.last_used_at),
  };
}

/** The claims of a token that a rule accepts. */
export interface ClaimRule {
  readonly name: string;
  /** The allowed values: `*` matches any characters except `/` and `:`, and `**` matches all characters. */
  readonly patterns: readonly string[];
}

/** Longer values match no pattern. */
const MAX_VALUE_LENGTH = 1_024;

/** Reports whether claims satisfy all rules. A list satisfies a rule if one of its elements does. */
export function matchesClaims(rules: readonly ClaimRule[], claims: Readonly<Record<string, unknown>>): boolean {
  return rules.every(({ name, patterns }) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
    const values = (Array.isArray(claim) ? claim : [claim]).flatMap(toText);
    return values.some((value) => patterns.some((pattern) => matchesClaimPattern(pattern, value)));
  });
}

const toText = (value: unknown): string[] =>
  ['string', 'number', 'boolean'].includes(typeof value) ? [String(value)] : [];

/** Takes time proportional to the product of the lengths, whatever the pattern. */
export function matchesClaimPattern(pattern: string, value: string): boolean {
  if (value.length > MAX_VALUE_LENGTH) return false;
  const parts = pattern.match(/\*\*|[^]/g) ?? [];
  // The parts that the text so far may be followed by; a wildcard may match nothing.
  const skip = (states: Iterable<number>): Set<number> => {
    const all = new Set<number>();
    for (let state of states) {
      all.add(state);
      while (parts[state]?.startsWith('*')) all.add((state += 1));
    }
    return all;
  };
  let states = skip([0]);
  for (const character of value.match(/[^]/g) ?? []) {
    const next: number[] = [];
    for (const state of states) {
      const part = parts[state];
      if (part === character && part !== '*') next.push(state + 1);
      else if (part === '**' || (part === '*' && character !== '/' && character !== ':')) next.push(state);
    }
    states = skip(next);
  }
  return states.has(parts.length);
}

/**
 * Reports whether rules restrict the workloads of a public issuer to those of one owner: all patterns of a claim name it,
 * as `repo:acme/*` and `system:serviceaccount:shop:*` do.
 */
export function isRestricted(rules: readonly ClaimRule[]): boolean {
  return rules.some(({ name, patterns }) => patterns.every((pattern) => namesOwner(name, pattern)));
}

/** Claims whose values the workloads of every owner can have, as each owner names branches, workflows and environments. */
const SHARED_CLAIMS =
  /^(?:aud|azp|base_ref|ci_config_ref_uri|environment|head_ref|iss|job_workflow_ref|ref|ref_path|repo_property_.*|workflow)$/;

/** Claims of GitHub and GitLab whose whole value names an owner or a repository. */
const OWNER_CLAIMS = /^(?:namespace_id|namespace_path|project_id|repository_id|repository_owner|repository_owner_id)$/;

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;

/** Reports whether the text of a pattern before its first wildcard names an owner: it has a `/`, two `:` or a UUID. */
function namesOwner(name: string, pattern: string): boolean {
  const known = pattern.replace(/\*.*$/s, '');
  // Owners on GitHub determine which claims their subjects consist of, such as `ref:refs/heads/main`.
  const [first = ''] = known.split(':');
  if (SHARED_CLAIMS.test(name === 'sub' && first !== known ? first : name)) return false;
  if (known.startsWith('system:serviceaccount:')) return /^(?:[^:]+:){3}/.test(known);
  // Google names service accounts by a number.
  const isId = known === pattern && (OWNER_CLAIMS.test(name) || (name === 'sub' && /^\d+$/.test(known)));
  return isId || /\/|:.*:/.test(known) || UUID.test(known);
}
