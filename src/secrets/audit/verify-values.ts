/** Compares stored values with the facts that the audit log recorded when they were stored. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Database, inTransaction, isPostgres } from '../../storage/database.js';
import { sql } from '../../storage/kysely.js';
import { toKeyFingerprint } from '../age-format.js';
import { findSignedFacts } from '../value-signatures.js';
import type { AuditDetail } from './chain.js';
import { sequenceAuditEntries } from './sequence.js';
import { readArchivedHead } from './verify-chain.js';

export interface ValueVerification {
  /** The number of values that match their entry. */
  readonly verified: number;
  /** The number of values that were stored by a release that recorded no digest. */
  readonly unrecorded: number;
  /** The first {@link MAX_ALTERED} values that don't match. */
  readonly altered: readonly AlteredValue[];
}

export interface AlteredValue {
  readonly slug: string;
  readonly variantId: string;
  readonly version: number;
  /**
   * `value`: the bytes differ; `version`: it is not the value that was stored last; `recipients`: the recorded
   * recipients differ; `signature`: the signature was removed or replaced; `missing`: the value is absent; `unknown`: the log
   * has no entry about the secret.
   */
  readonly reason: 'missing' | 'recipients' | 'signature' | 'unknown' | 'value' | 'version';
}

/** Enough to show the extent; all of them need the same attention. */
const MAX_ALTERED = 100;

/** The number of secrets in memory at a time; with values of 1 MiB, 32 MiB. */
const PAGE = 32;

interface VerifyValuesOptions {
  /** Whether to verify previous values too. */
  readonly full?: boolean;
  readonly signal?: AbortSignal;
}

/** The maximum time that the thread is blocked, so that requests can be handled in between. */
const SLICE_MS = 12;

/** Verifies the current value of each secret, a page at a time. */
export async function verifyValues(
  database: Database,
  { full = false, signal }: VerifyValuesOptions = {},
): Promise<ValueVerification> {
  let [verified, unrecorded] = [0, 0];
  const altered: AlteredValue[] = [];
  let since = performance.now();
  for (let after = ''; ;) {
    const page = await readSecrets(database, after);
    // All previous values of a page may be too large for the memory.
    const groups = full ? page.map((secret) => [secret]) : [page];
    for (const secrets of groups) {
      const found = await verifySecrets(database, secrets, full);
      for (const secret of secrets) {
        signal?.throwIfAborted();
        const first = found.get(secret.id) ?? [];
        // A change that was committed between two of these statements looks the same.
        const results = first.some(isAltered) ? await verifyLocked(database, secret, full) : first;
        for (const { version, reason } of results) {
          if (reason === 'unrecorded') unrecorded += 1;
          else if (reason === undefined) verified += 1;
          else if (altered.length < MAX_ALTERED) {
            altered.push({ slug: secret.slug, variantId: secret.id, version, reason });
          }
        }
        if (performance.now() - since < SLICE_MS) continue;
        await setImmediate();
        since = performance.now();
      }
    }
    if (page.length < PAGE) return { verified, unrecorded, altered };
    after = page.at(-1)?.id ?? after;
  }
}

interface VerifiedValue {
  readonly version: number;
  readonly reason: AlteredValue['reason'] | 'unrecorded' | undefined;
}

const isAltered = ({ reason }: VerifiedValue): boolean => reason !== undefined && reason !== 'unrecorded';

/** Verifies the values of several secrets. Returns the results by the id of the secret. */
async function verifySecrets(
  database: Database,
  secrets: readonly Secret[],
  full: boolean,
): Promise<ReadonlyMap<string, readonly VerifiedValue[]>> {
  if (secrets.length === 0) return new Map();
  const recorded = await readRecorded(database, secrets);
  const stored = await readValues(database, secrets, full);
  const listed = await findListed(database, secrets, recorded);
  const results = secrets.map(async (secret) => {
    const facts = recorded.get(secret.id) ?? [];
    const values = (stored.get(secret.id) ?? []).map(async (value) => ({
      version: value.version,
      reason: await findReason(value, facts, listed.has(secret.id)),
    }));
    return [secret.id, await Promise.all(values)] as const;
  });
  return new Map(await Promise.all(results));
}

/** Verifies a secret while no other transaction can change it; returns nothing for a deleted one. */
async function verifyLocked(database: Database, { id }: Secret, full: boolean): Promise<readonly VerifiedValue[]> {
  const work = async (transaction: Database): Promise<readonly VerifiedValue[]> => {
    const own = transaction.selectFrom('secret_objects').select(['id', 'slug', 'version']).where('id', '=', id);
    // Transactions of SQLite hold the only write lock from their start.
    const secret = await (isPostgres(transaction) ? own.forUpdate() : own).executeTakeFirst();
    if (secret === undefined) return [];
    await sequenceAuditEntries(transaction);
    return (await verifySecrets(transaction, [secret], full)).get(id) ?? [];
  };
  return inTransaction(database, work, 'read committed');
}

interface Secret {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
}

function readSecrets(database: Database, after: string): Promise<Secret[]> {
  const secrets = database.selectFrom('secret_objects').select(['id', 'slug', 'version']);
  return secrets.where('id', '>', after).orderBy('id').limit(PAGE).execute();
}

/** Reads the recorded facts of values, oldest first, by the id of the secret. */
async function readRecorded(
  database: Database,
  secrets: readonly Secret[],
): Promise<ReadonlyMap<string, readonly AuditDetail[]>> {
  const recorded = new Map<string, AuditDetail[]>();
  const ids = sql.join(secrets.map(({ id }) => id));
  // The same condition as that of the index.
  const { rows } = await sql<{ variant_id: string; detail: string }>`
    select variant_id, detail from audit_log
    where variant_id in (${ids}) and detail is not null order by variant_id, id`.execute(database);
  for (const { variant_id: id, detail } of rows) {
    const facts = JSON.parse(detail) as AuditDetail;
    if (facts.digest !== undefined) recorded.set(id, [...(recorded.get(id) ?? []), facts]);
  }
  return recorded;
}

interface StoredValue extends Secret {
  readonly isCurrent: boolean;
  /** Absent if the row of the current value is. */
  readonly sealed?: Uint8Array;
  readonly signature?: string | null;
  readonly recipients: readonly string[];
}

async function readValues(
  database: Database,
  secrets: readonly Secret[],
  isFull: boolean,
): Promise<ReadonlyMap<string, readonly StoredValue[]>> {
  const ids = secrets.map(({ id }) => id);
  const all = database
    .selectFrom('secret_object_values as stored')
    .innerJoin('secret_objects as objects', 'objects.id', 'stored.object_id')
    .select(['stored.object_id', 'stored.version', 'stored.sealed', 'stored.signature'])
    .where('stored.object_id', 'in', ids);
  const current = all.whereRef('stored.version', '=', 'objects.version');
  const rows = groupByObject(await (isFull ? all : current).orderBy('stored.version').execute());
  const named = database.selectFrom('secret_object_recipients').select(['object_id', 'version', 'recipient']);
  const recipients = groupByObject(await named.where('object_id', 'in', ids).execute());
  return new Map(
    secrets.map((secret) => {
      const values: StoredValue[] = (rows.get(secret.id) ?? []).map(({ version, sealed, signature }) => ({
        ...secret,
        version,
        sealed,
        signature,
        isCurrent: version === secret.version,
        recipients: (recipients.get(secret.id) ?? [])
          .filter((row) => row.version === version)
          .map(({ recipient }) => recipient),
      }));
      const isPresent = values.some(({ isCurrent }) => isCurrent);
      return [secret.id, isPresent ? values : [...values, { ...secret, isCurrent: true, recipients: [] }]];
    }),
  );
}

function groupByObject<Row extends { readonly object_id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.object_id, [...(groups.get(row.object_id) ?? []), row]);
  return groups;
}

async function findReason(
  value: StoredValue,
  recorded: readonly AuditDetail[],
  isListed: boolean,
): Promise<AlteredValue['reason'] | 'unrecorded' | undefined> {
  if (value.sealed === undefined) return 'missing';
  const last = recorded.at(-1);
  if (value.isCurrent && last !== undefined && last.value !== value.version) return 'version';
  // A value that was signed later has several entries.
  const facts = recorded.findLast((each) => each.value === value.version);
  if (facts === undefined) return isListed ? 'unrecorded' : 'unknown';
  if (createHash('sha256').update(value.sealed).digest('hex') !== facts.digest) return 'value';
  const recipients = value.recipients.map(toKeyFingerprint).sort();
  if (recipients.join() !== (facts.recipients ?? []).join()) return 'recipients';
  return (await isSignedAsRecorded(value, facts)) ? undefined : 'signature';
}

/** Returns whether a value has the signature that its entry recorded: of the same key, of these bytes and this place. */
async function isSignedAsRecorded(
  { id, version, signature }: StoredValue,
  { signer, digest }: AuditDetail,
): Promise<boolean> {
  if (signature == null) return signer === undefined;
  const signed = await findSignedFacts(signature);
  if (signed === undefined || signed.signer !== signer) return false;
  const { statement } = signed;
  return statement.id === id && statement.version === version && statement.digest === digest;
}

/**
 * Returns the ids of the secrets that the log has entries about, or may have had: entries of earlier months may be
 * archived, with the facts of values that are still stored.
 */
async function findListed(
  database: Database,
  secrets: readonly Secret[],
  recorded: ReadonlyMap<string, unknown>,
): Promise<ReadonlySet<string>> {
  const others = secrets.filter(({ id }) => !recorded.has(id));
  const listed = new Set(recorded.keys());
  if (others.length === 0) return listed;
  if ((await readArchivedHead(database)).count > 0) return new Set(secrets.map(({ id }) => id));
  for (const { id, slug } of others) {
    // The index of slugs finds the entry.
    const entries = database.selectFrom('audit_log').select('id').where('slug', '=', slug).where('variant_id', '=', id);
    if ((await entries.limit(1).executeTakeFirst()) !== undefined) listed.add(id);
  }
  return listed;
}
