/**
 * Replaces values together: concurrent replacements share a transaction, as statements and commits take most of the time.
 * On PostgreSQL, one statement reads the secrets of a batch, and one changes them if they are still the same.
 */
import { batch } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction, isPostgres } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { prepare, prepareBatch } from '../storage/prepared.js';
import { appendAuditEntries, PENDING_COLUMNS, type RequestOrigin, toPendingEntry } from './audit/chain.js';
import {
  findExplicitRecipients,
  saveResealState,
  MAX_REPLACED,
  type NewSealedValue,
  replaceValue,
  toValueDetail,
} from './sealed-values.js';
import {
  assertIfMatch,
  compareBytes,
  readLabelsOfEach,
  type SecretLabels,
  type SecretMetadata,
  type SecretRef,
  type SecretTableRow,
  toMetadata,
} from './secret-records.js';
import { assertSignsPlace } from './value-signatures.js';

/** A value that replaces the current one of a secret, whose labels stay unchanged. */
interface Replacement {
  readonly ref: SecretRef;
  readonly value: NewSealedValue;
  /** The `If-Match` header. */
  readonly ifMatch: string | undefined;
  readonly origin: RequestOrigin;
}

/**
 * Replaces a value, and records the change in the audit log. Returns `undefined`, without a change, for a replacement
 * that has to run in a transaction of its own: the value is large, or the secret is unknown, ambiguous, locked, or
 * changed at the same time.
 *
 * @throws AppError `precondition_failed` when the current value doesn't match `ifMatch`.
 */
type ValueReplacer = (replacement: Replacement) => Promise<SecretMetadata | undefined>;

/** The number of replacements per transaction, so that each waits for few others. */
const MAX_TOGETHER = 32;

/** Larger values are replaced in a transaction of their own, so that a batch has at most 2 MiB. */
const MAX_BYTES = 64 * 1024;

/** The batches at a time on PostgreSQL: one can be prepared while the other waits for the database. */
const POSTGRES_CONCURRENCY = 2;

/** Creates a function that replaces values. It must not be used inside another transaction. */
export function createValueReplacer(database: Database): ValueReplacer {
  const run = (take: () => readonly Replacement[]): Promise<Outcome[]> =>
    isPostgres(database)
      ? replaceEach(database, take(), saveTogether)
      : inTransaction(database, (transaction) => replaceEach(transaction, take(), saveInTurn));
  const replaceTogether = batch(MAX_TOGETHER, run, { concurrency: isPostgres(database) ? POSTGRES_CONCURRENCY : 1 });
  return async (replacement) => {
    if (replacement.value.sealed.length > MAX_BYTES) return undefined;
    const outcome = await replaceTogether(replacement);
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  };
}

type Outcome = AppError | SecretMetadata | undefined;

interface FoundSecret {
  readonly object: SecretTableRow;
  /** Changes with every change of the row in PostgreSQL; empty in SQLite, whose transactions run one at a time. */
  readonly rowVersion: string;
  readonly labels: SecretLabels;
}

type Found = FoundSecret | undefined;

/** A replacement whose precondition is met. */
type Accepted = FoundSecret & Replacement;

/** Saves replacements, and returns the metadata of those that were saved. */
type Save = (database: Database, accepted: readonly Accepted[]) => Promise<readonly (SecretMetadata | undefined)[]>;

async function replaceEach(database: Database, replacements: readonly Replacement[], save: Save): Promise<Outcome[]> {
  const outcomes: Outcome[] = replacements.map(() => undefined);
  const accepted: (Accepted & { readonly place: number })[] = [];
  const parameters = replacements.map(({ ref: { slug, id = '' } }) => ({ slug, id: id.toLowerCase() }));
  const found = await (isPostgres(database) ? findOnPostgres : findOnSqlite)(database, parameters);
  const ids = new Set<string>();
  for (const [place, replacement] of replacements.entries()) {
    const secret = found[place];
    if (secret === undefined || ids.has(secret.object.id)) continue;
    ids.add(secret.object.id);
    const error = findError(secret.object, replacement);
    if (error === undefined) accepted.push({ ...replacement, ...secret, place });
    else outcomes[place] = error;
  }
  const saved = accepted.length === 0 ? [] : await save(database, accepted);
  for (const [index, { place }] of accepted.entries()) outcomes[place] = saved[index];
  return outcomes;
}

interface FindParameters {
  readonly slug: string;
  /** Empty if the slug alone identifies the secret. */
  readonly id: string;
}

const fromOnly = ({ slug, id }: FindParameters) => sql`
  from secret_objects as o where o.slug = ${slug} and (
    o.id = ${id}
    or (${id} = '' and not exists (select 1 from secret_objects as p where p.slug = o.slug and p.id <> o.id))
  )`;

interface PostgresRow extends SecretTableRow {
  readonly row_version: string;
  readonly tags: readonly string[];
  readonly consumers: readonly { readonly name: string; readonly key: string | null }[];
  readonly owner_key: string | null;
}

const selectOnPostgres = prepareBatch(
  (_database, parameters: FindParameters) => sql<PostgresRow>`
    select o.*, xmin::text as row_version,
      (select coalesce(json_agg(tag order by tag), '[]') from secret_object_tags where object_id = o.id) as tags,
      (
        select coalesce(json_agg(json_build_object('name', consumer, 'key', public_key) order by consumer), '[]')
        from secret_object_consumers left join secret_consumers on name = consumer where object_id = o.id
      ) as consumers,
      (select public_key from secret_owner) as owner_key
    ${fromOnly(parameters)}`,
);

async function findOnPostgres(database: Database, parameters: readonly FindParameters[]): Promise<Found[]> {
  const groups = await selectOnPostgres(database, parameters);
  return groups.map(([row]) => {
    if (row === undefined) return undefined;
    const { row_version: rowVersion, tags, consumers, owner_key: ownerKey, ...object } = row;
    const keys = consumers.map(({ name, key }) => ({ name, publicKey: key ?? undefined }));
    return { object, rowVersion, labels: { tags, consumers: keys, ownerKey: ownerKey ?? undefined } };
  });
}

const selectOnSqlite = prepareBatch(
  (_database, parameters: FindParameters) => sql<SecretTableRow>`select o.* ${fromOnly(parameters)}`,
);

async function findOnSqlite(database: Database, parameters: readonly FindParameters[]): Promise<Found[]> {
  const rows = (await selectOnSqlite(database, parameters)).map(([row]) => row);
  const labels = await readLabelsOfEach(
    database,
    rows.filter((row) => row !== undefined),
  );
  return rows.map((object) => object && { object, rowVersion: '', labels: labels.shift() ?? NO_LABELS });
}

const NO_LABELS: SecretLabels = { tags: [], consumers: [], ownerKey: undefined };

function findError(object: SecretTableRow, { ifMatch, value }: Replacement): AppError | undefined {
  try {
    assertIfMatch(object, ifMatch);
    if (value.signature) assertSignsPlace(value.signature, { ...object, version: object.version + 1 });
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const toEntry = ({ object: { id, slug, version }, value, origin }: Accepted) => ({
  entry: { slug, variantId: id, action: 'update' as const, detail: toValueDetail(version + 1, value) },
  origin,
});

async function saveInTurn(transaction: Database, accepted: readonly Accepted[]): Promise<SecretMetadata[]> {
  const saved: SecretMetadata[] = [];
  for (const { object, value, labels } of accepted) {
    const explicitRecipients = findExplicitRecipients(value.recipients, labels);
    const replaced = await replaceValue(transaction, object, { ...value, explicitRecipients });
    saved.push(await saveResealState(transaction, replaced, value.at));
  }
  await appendAuditEntries(transaction, accepted.map(toEntry));
  return saved;
}

async function saveTogether(database: Database, accepted: readonly Accepted[]) {
  const sign = toPendingEntry(database);
  const replaced = accepted.map((one) => toReplaced(one, sign(toEntry(one))));
  const rows = JSON.stringify(replaced.map(({ row }) => row));
  const saved = new Set((await saveAll(database, { rows, count: accepted.length })).map(({ id }) => id));
  return replaced.map(({ metadata }) => (saved.has(metadata.id) ? metadata : undefined));
}

type PendingEntry = ReturnType<ReturnType<typeof toPendingEntry>>;

/** Returns the row of the statement, and the metadata afterwards. */
function toReplaced({ object, rowVersion, value, labels }: Accepted, entry: PendingEntry) {
  const { id, version } = object;
  const { at, by, recipientCount, sealed, signature } = value;
  const recipients = [...value.recipients].sort(compareBytes);
  const explicitRecipients = findExplicitRecipients(recipients, labels);
  const changed = { version: version + 1, updated_at: at, updated_by_type: by.type, updated_by_id: by.id };
  const sealing = { ...labels, recipients, explicitRecipients, recipientCount };
  const metadata = toMetadata({ ...object, ...changed }, sealing, at);
  const row = {
    id,
    row_version: rowVersion,
    ...changed,
    needs_reseal: metadata.reseal === undefined ? 0 : 1,
    recipient_count: recipientCount,
    recipients: recipients.map((recipient) => ({
      recipient,
      is_explicit: explicitRecipients.includes(recipient) ? 1 : 0,
    })),
    sealed: Buffer.from(sealed).toString('base64'),
    signature: signature?.text ?? null,
    entry,
  };
  return { metadata, row };
}

const pendingColumns = sql.join(PENDING_COLUMNS.map((column) => sql.id(column)));

interface Rows {
  /** A JSON array. */
  readonly rows: string;
  /** The number of rows, which shows the planner that indexes are faster than reading whole tables. */
  readonly count: number;
}

/**
 * Saves the replacements of a batch like `replaceValue`, with their audit entries. Returns the ids of the secrets. Leaves
 * out those that are locked, for which the whole batch would wait, and those with a different version: another transaction
 * has changed the secret, its consumers or their keys since.
 */
const saveAll = prepare((database, { rows, count }: Rows) => ({
  compile: () =>
    sql<{ id: string }>`
      with given as materialized (
        select * from json_to_recordset(${rows}) as given (
          id text, row_version text, version integer, updated_at bigint, updated_by_type text, updated_by_id text,
          needs_reseal integer, recipient_count integer, recipients json, sealed text, signature text, entry json
        ) limit ${count}
      ), input as materialized (
        select given.* from given join secret_objects as o on o.id = given.id and o.xmin::text = given.row_version
        for update of o skip locked
      ), replaced as (
        update secret_object_values as v
        set replaced_at = updated_at, replaced_by_type = updated_by_type, replaced_by_id = updated_by_id
        from input where v.object_id = input.id and v.version = input.version - 1
      ), stored as (
        insert into secret_object_values
          (object_id, version, created_at, created_by_type, created_by_id, recipient_count, sealed, signature)
        select id, version, updated_at, updated_by_type, updated_by_id, recipient_count, decode(sealed, 'base64'), signature
        from input
      ), sealed_to as (
        insert into secret_object_recipients (object_id, version, recipient, is_explicit)
        select id, version, one.recipient, one.is_explicit
        from input, json_to_recordset(recipients) as one (recipient text, is_explicit integer)
      ), deleted as (
        delete from secret_object_values as v using input
        where v.object_id = input.id and v.version <= input.version - 1 - ${sql.lit(MAX_REPLACED)}
      ), changed as (
        update secret_objects as o
        set version = input.version, updated_at = input.updated_at, updated_by_type = input.updated_by_type,
          updated_by_id = input.updated_by_id, needs_reseal = input.needs_reseal
        from input where o.id = input.id
      ), recorded as (
        insert into audit_pending (${pendingColumns})
        select ${sql.join(PENDING_COLUMNS.map((column) => sql`one.${sql.id(column)}`))}
        from input, json_populate_record(null::audit_pending, entry) as one
      )
      select id from input`.compile(database),
}));
