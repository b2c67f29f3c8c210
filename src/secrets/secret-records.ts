/**
 * The stored secrets: their variants, consumers and tags, ETags and metadata. Secrets that share a slug are its variants;
 * a consumer belongs to at most one variant of a slug.
 */
import { AppError } from '@trellis/core/errors';
import type { RawBuilder, Selectable } from 'kysely';
import { type Database, isPostgres } from '../storage/database.js';
import { sql } from '../storage/kysely.js';
import { prepare, prepareBatch, prepareInsert } from '../storage/prepared.js';
import type { SecretObjectsTable } from '../storage/tables.js';
import type { Actor } from './audit/chain.js';
import { toDueAt } from './rotation.js';

/** Identifies a secret: by its slug, or by slug and id when several variants share the slug. */
export interface SecretRef {
  readonly slug: string;
  /** The id of the variant. */
  readonly id?: string;
}

export type SecretTableRow = Selectable<SecretObjectsTable>;

/** Selects at most two variants, enough to detect an ambiguous slug, which can have thousands. */
const findBySlug = prepare((database, { slug }: { readonly slug: string }) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).limit(2),
);

const findById = prepare((database, { slug, id }: Required<SecretRef>) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).where('id', '=', id),
);

const lockBySlug = prepare((database, { slug }: { readonly slug: string }) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).limit(2).forUpdate(),
);

const lockById = prepare((database, { slug, id }: Required<SecretRef>) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).where('id', '=', id).forUpdate(),
);

/**
 * Returns the variant that a reference identifies.
 *
 * @throws AppError `not_found` for an unknown slug or id; `conflict` when several variants share the slug and no id is
 * given.
 */
export function getVariant(database: Database, ref: SecretRef): Promise<SecretTableRow> {
  return selectByRef(database, ref, { findBySlug, findById });
}

/**
 * Like {@link getVariant}, and locks the variant until the transaction ends, for changes that concern it alone. They need
 * no serializable transaction then, so changes of other secrets can't conflict with them.
 *
 * @throws AppError as {@link getVariant}.
 */
export function lockVariant(transaction: Database, ref: SecretRef): Promise<SecretTableRow> {
  // Transactions of SQLite hold the only write lock from their start.
  const finders = isPostgres(transaction) ? { findBySlug: lockBySlug, findById: lockById } : { findBySlug, findById };
  return selectByRef(transaction, ref, finders);
}

interface Finders {
  readonly findBySlug: typeof findBySlug;
  readonly findById: typeof findById;
}

async function selectByRef(database: Database, { slug, id }: SecretRef, finders: Finders): Promise<SecretTableRow> {
  // Hexadecimal digits are compared regardless of case.
  const variants =
    id === undefined
      ? finders.findBySlug(database, { slug })
      : finders.findById(database, { slug, id: id.toLowerCase() });
  return selectVariant(await variants, id);
}

/** Returns the variant with the id, or the only one. @throws AppError as {@link getVariant}. */
export function selectVariant<T extends { readonly id: string }>(variants: readonly T[], id: string | undefined): T {
  // Hexadecimal digits are compared regardless of case.
  const wanted = id?.toLowerCase();
  const [found, other] = wanted === undefined ? variants : variants.filter((variant) => variant.id === wanted);
  if (found === undefined) throw new AppError('not_found', 'unknown object');
  if (other === undefined) return found;
  throw new AppError('conflict', 'Several variants have this slug; add ?id=.', { field: 'id' });
}

interface NewVariant {
  readonly slug: string;
  readonly consumers: readonly string[];
}

/**
 * Asserts that a new secret can have this slug, in the transaction that creates it.
 *
 * @throws AppError `conflict` when the slug exists and the new secret has no consumers, or shares one with a variant.
 */
export async function assertCanCreate(transaction: Database, { slug, consumers }: NewVariant): Promise<void> {
  if ((await findBySlug(transaction, { slug })).length === 0) return;
  if (consumers.length === 0 || (await isShared(transaction, { slug, consumers }))) throw alreadyExists();
}

/**
 * Asserts that a secret can have a new slug. In addition to the rule of {@link assertCanCreate}, every existing
 * variant of that slug must have consumers.
 *
 * @throws AppError `conflict` otherwise.
 */
export async function assertCanRename(transaction: Database, id: string, renamed: NewVariant): Promise<void> {
  const others = transaction
    .selectFrom('secret_objects')
    .leftJoin('secret_object_consumers as used', 'used.object_id', 'id')
    .select('id')
    .where('secret_objects.slug', '=', renamed.slug)
    .where('id', '<>', id)
    .limit(1);
  if ((await others.executeTakeFirst()) === undefined) return;
  const unused = others.where('used.object_id', 'is', null);
  const isUnused = renamed.consumers.length === 0 || (await unused.executeTakeFirst()) !== undefined;
  if (isUnused || (await isShared(transaction, { ...renamed, except: id }))) throw alreadyExists();
}

/** @throws AppError `conflict` when a different variant of the slug has one of the consumers. */
export async function assertConsumersUnused(
  transaction: Database,
  { id, slug }: SecretTableRow,
  consumers: readonly string[],
): Promise<void> {
  if (!(await isShared(transaction, { slug, consumers, except: id }))) return;
  throw new AppError('conflict', 'A consumer belongs to a different variant of this slug.', { field: 'used_by' });
}

async function isShared(
  database: Database,
  { slug, consumers, except }: NewVariant & { readonly except?: string },
): Promise<boolean> {
  if (consumers.length === 0) return false;
  let query = database
    .selectFrom('secret_object_consumers')
    .innerJoin('secret_objects', 'id', 'object_id')
    .select('object_id')
    .where('secret_objects.slug', '=', slug)
    .where('consumer', 'in', consumers);
  if (except !== undefined) query = query.where('object_id', '<>', except);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

function alreadyExists(): AppError {
  return new AppError('conflict', 'object already exists', { field: 'slug' });
}

const insertConsumer = prepareInsert('secret_object_consumers');
const insertTag = prepareInsert('secret_object_tags');

/** The part of a secret that its consumers and tags refer to. */
type LinkedSecret = Pick<SecretTableRow, 'created_at' | 'id' | 'slug'>;

/**
 * Stores new versions of rows of secrets whose keys or consumers change, without a difference. `replace-values.ts` detects
 * such a change by the version of the row. Transactions of SQLite run one at a time, so they need no such versions.
 */
export async function touchSecrets(transaction: Database, scope: RawBuilder<unknown>): Promise<void> {
  if (isPostgres(transaction))
    await sql`update secret_objects set version = version where ${scope}`.execute(transaction);
}

/** Replaces the consumers of a secret in the caller's transaction; duplicates are stored once. */
export async function saveConsumers(
  database: Database,
  { id, slug, created_at }: LinkedSecret,
  consumers: readonly string[],
): Promise<void> {
  await touchSecrets(database, sql`id = ${id}`);
  await database.deleteFrom('secret_object_consumers').where('object_id', '=', id).execute();
  for (const consumer of new Set(consumers)) {
    await insertConsumer(database, { object_id: id, consumer, slug, created_at });
  }
}

/** Replaces the tags of a secret in the caller's transaction. */
export async function saveTags(
  database: Database,
  { id, slug, created_at }: LinkedSecret,
  tags: readonly string[],
): Promise<void> {
  await database.deleteFrom('secret_object_tags').where('object_id', '=', id).execute();
  for (const tag of tags) await insertTag(database, { object_id: id, tag, slug, created_at });
}

/** Replaces the slug of a secret, which its consumers and tags repeat, in the caller's transaction. */
export async function saveSlug(database: Database, id: string, slug: string): Promise<void> {
  await database.updateTable('secret_objects').set({ slug }).where('id', '=', id).execute();
  for (const table of ['secret_object_consumers', 'secret_object_tags'] as const) {
    await database.updateTable(table).set({ slug }).where('object_id', '=', id).execute();
  }
}

/** Returns the consumers of a secret in alphabetical order. */
export async function listSecretConsumers(database: Database, id: string): Promise<string[]> {
  const own = database.selectFrom('secret_object_consumers').select('consumer').where('object_id', '=', id);
  return (await own.orderBy('consumer').execute()).map(({ consumer }) => consumer);
}

/** Returns the ETag of the current value. It is never reused, even by a later secret with the same slug. */
export function toSecretEtag({ id, version }: Pick<SecretTableRow, 'id' | 'version'>): string {
  return `"${id}.${version}"`;
}

/**
 * Asserts that a secret still has the value that the caller has read.
 *
 * @param ifMatch The `If-Match` header: ETags separated by commas, or `*`; when absent, every value matches.
 * @throws AppError `precondition_failed` when the value was replaced.
 */
export function assertIfMatch(object: SecretTableRow, ifMatch: string | undefined): void {
  const etag = toSecretEtag(object);
  // A proxy that compresses responses turns the ETag into a weak one, which identifies the same value.
  const names = (given: string): boolean => given === '*' || given.replace(/^W\//, '') === etag;
  if (ifMatch === undefined || ifMatch.split(',').some((given) => names(given.trim()))) return;
  throw new AppError('precondition_failed', 'The secret was changed by another request; reload it.', {
    field: 'If-Match',
  });
}

/** The metadata of a secret, without its value. */
export interface SecretMetadata {
  readonly id: string;
  readonly slug: string;
  /** Identifies the current value. */
  readonly etag: string;
  /** The number of the current value, from 1. */
  readonly version: number;
  readonly tags: readonly string[];
  readonly usedBy: readonly string[];
  readonly description: string | undefined;
  readonly createdAt: Date;
  /** The time of the current value; equals `createdAt` until the value is replaced. */
  readonly updatedAt: Date;
  readonly createdBy: Actor;
  readonly updatedBy: Actor;
  readonly rotation: RotationState | undefined;
  /** The number of recipients in the age header. */
  readonly recipientCount: number;
  /** The public keys that the client recorded with the value; may be empty. */
  readonly recipients: readonly string[];
  readonly reseal: ResealReason | undefined;
  /** The statement of the value's writer with the signature; in lists only. */
  readonly signature?: string;
}

interface RotationState {
  readonly afterDays: number;
  readonly dueAt: Date;
  readonly isDue: boolean;
}

/**
 * Returns the metadata of secrets in the order of their ids, with two queries at the same time. Unknown ids are left out.
 *
 * @param at The current time.
 */
export async function readSecretMetadataList(
  database: Database,
  ids: readonly string[],
  at: number,
): Promise<SecretMetadata[]> {
  if (ids.length === 0) return [];
  const [rows, related] = await Promise.all([
    database.selectFrom('secret_objects').selectAll().where('id', 'in', ids).execute(),
    selectRelatedOfEach(ids).execute(database),
  ]);
  const groups = new Map<string, RelatedRow[]>([OWNER_ID, ...ids].map((id) => [id, []]));
  for (const found of related.rows) groups.get(found.object_id)?.push(found);
  const owner = groups.get(OWNER_ID) ?? [];
  const known = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = known.get(id);
    return row === undefined ? [] : toMetadata(row, toRelated([...(groups.get(id) ?? []), ...owner]), at);
  });
}

/** In place of the id of a secret. */
const OWNER_ID = '';

/** Selects the rows of several secrets, like {@link findRelated}. */
function selectRelatedOfEach(ids: readonly string[]) {
  const list = sql.join([...ids]);
  return sql<RelatedRow & { readonly object_id: string }>`
    select object_id, 'tag' as kind, tag as name, cast(null as text) as key, 0 as count
      from secret_object_tags where object_id in (${list})
    union all select object_id, 'consumer', consumer, public_key, 0
      from secret_object_consumers left join secret_consumers on name = consumer where object_id in (${list})
    union all select object_id, 'recipient', recipient, null, is_explicit
      from secret_object_recipients as r join secret_objects as o on o.id = r.object_id and o.version = r.version
      where object_id in (${list})
    union all select object_id, 'value', '', signature, recipient_count
      from secret_object_values as v join secret_objects as o on o.id = v.object_id and o.version = v.version
      where object_id in (${list})
    union all select ${sql.lit(OWNER_ID)}, 'owner', '', public_key, 0 from secret_owner`;
}

/** The rows of other tables that belong to a secret. */
interface Related extends Sealing {
  readonly tags: readonly string[];
  readonly signature?: string;
}

export function toMetadata(row: SecretTableRow, { tags, signature, ...sealing }: Related, at: number): SecretMetadata {
  const { consumers, recipients, recipientCount } = sealing;
  return {
    ...toStoredMetadata(row),
    tags,
    usedBy: consumers.map(({ name }) => name),
    rotation: toRotation(row, at),
    recipients,
    recipientCount,
    reseal: findResealReason(sealing),
    ...(signature !== undefined && { signature }),
  };
}

/** Returns the metadata of one secret, with one query. @param at The current time. */
export async function readSecretMetadata(database: Database, row: SecretTableRow, at: number): Promise<SecretMetadata> {
  return toMetadata(row, toRelated(await findRelated(database, row)), at);
}

function toRelated(unsorted: readonly RelatedRow[]): Related {
  const rows = sortByName(unsorted);
  const [value] = ofKind(rows, 'value');
  return {
    ...toLabels(rows),
    recipients: ofKind(rows, 'recipient').map(({ name }) => name),
    explicitRecipients: ofKind(rows, 'recipient').flatMap(({ name, count }) => (count === 1 ? name : [])),
    recipientCount: value?.count ?? 0,
    ...(value?.key != null && { signature: value.key }),
  };
}

/** Everything that belongs to a secret, except its value. */
export type SecretLabels = Pick<Related, 'consumers' | 'ownerKey' | 'tags'>;

/** Reads the labels of several secrets, with one query on PostgreSQL. */
export async function readLabelsOfEach(
  database: Database,
  secrets: readonly Pick<SecretTableRow, 'id'>[],
): Promise<SecretLabels[]> {
  const inputs = secrets.map(({ id }) => ({ id }));
  return (await findLabels(database, inputs)).map((rows) => toLabels(sortByName(rows)));
}

const sortByName = (rows: readonly RelatedRow[]): readonly RelatedRow[] =>
  rows.toSorted((one, other) => compareBytes(one.name, other.name));

/** Compares texts by their UTF-8 bytes, as both engines do. */
export const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

const ofKind = (rows: readonly RelatedRow[], kind: string) => rows.filter((found) => found.kind === kind);

function toLabels(rows: readonly RelatedRow[]): SecretLabels {
  return {
    tags: ofKind(rows, 'tag').map(({ name }) => name),
    consumers: ofKind(rows, 'consumer').map(({ name, key }) => ({ name, publicKey: key ?? undefined })),
    ownerKey: ofKind(rows, 'owner')[0]?.key ?? undefined,
  };
}

interface RelatedRow {
  readonly kind: string;
  readonly name: string;
  readonly key: string | null;
  readonly count: number;
}

/** Selects the tags and consumers of a secret, and the owner's key. */
const selectLabels = (id: string) => sql<RelatedRow>`
  select 'tag' as kind, tag as name, cast(null as text) as key, 0 as count
    from secret_object_tags where object_id = ${id}
  union all select 'consumer', consumer, public_key, 0
    from secret_object_consumers left join secret_consumers on name = consumer where object_id = ${id}
  union all select 'owner', '', public_key, 0 from secret_owner`;

const findLabels = prepareBatch((_database, { id }: { readonly id: string }) => selectLabels(id));

const findRelated = prepare((database, { id, version }: Pick<SecretTableRow, 'id' | 'version'>) => ({
  compile: () =>
    sql<RelatedRow>`
      ${selectLabels(id)}
      union all select 'recipient', recipient, null, is_explicit
        from secret_object_recipients where object_id = ${id} and version = ${version}
      union all select 'value', '', null, recipient_count
        from secret_object_values where object_id = ${id} and version = ${version}`.compile(database),
}));

function toStoredMetadata(row: SecretTableRow) {
  return {
    id: row.id,
    slug: row.slug,
    etag: toSecretEtag(row),
    version: row.version,
    description: row.description ?? undefined,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    createdBy: fromStoredActor(row.created_by_type, row.created_by_id),
    updatedBy: fromStoredActor(row.updated_by_type, row.updated_by_id),
  };
}

/** Restores an actor from its columns; only results of `toActor` are stored there. */
export function fromStoredActor(type: string, id: string): Actor {
  return { type: type as Actor['type'], id };
}

function toRotation(
  { rotate_after_days: afterDays, updated_at }: SecretTableRow,
  at: number,
): RotationState | undefined {
  if (afterDays === null) return undefined;
  const dueAt = toDueAt(updated_at, afterDays);
  return { afterDays, dueAt: new Date(dueAt), isDue: dueAt <= at };
}

/** The reason why a value should be resealed. */
export interface ResealReason {
  /** `recipients` compares the recorded public keys; `count`, without them, their number in the age header. */
  readonly reason: 'count' | 'recipients';
  /** The consumers whose current public key is not a recipient. */
  readonly missing: readonly string[];
  /** The recorded public keys that no longer belong to a consumer or the owner, and were not chosen explicitly. */
  readonly stale: readonly string[];
}

interface Sealing {
  readonly consumers: readonly { readonly name: string; readonly publicKey: string | undefined }[];
  readonly ownerKey: string | undefined;
  /** The recorded public keys; may be empty. */
  readonly recipients: readonly string[];
  /** The recorded public keys that the sender chose, which therefore stay. */
  readonly explicitRecipients: readonly string[];
  readonly recipientCount: number;
}

/**
 * Compares the recipients of a value with the current public keys of its consumers and the owner. Returns the reason to
 * reseal it; `undefined` when the recorded keys and the age header show none.
 */
export function findResealReason(sealing: Sealing): ResealReason | undefined {
  return sealing.recipients.length > 0 ? compareKeys(sealing) : compareCount(sealing);
}

function compareKeys({ consumers, ownerKey, recipients, explicitRecipients }: Sealing): ResealReason | undefined {
  const missing = consumers.filter(({ publicKey }) => publicKey !== undefined && !recipients.includes(publicKey));
  const known = [ownerKey, ...explicitRecipients, ...consumers.map(({ publicKey }) => publicKey)];
  // An unknown key may belong to a consumer without a registered key.
  const stale = hasAllKeys(consumers) ? recipients.filter((recipient) => !known.includes(recipient)) : [];
  if (missing.length === 0 && stale.length === 0) return undefined;
  return { reason: 'recipients', missing: missing.map(({ name }) => name), stale };
}

function compareCount({ consumers, recipientCount }: Sealing): ResealReason | undefined {
  const { size } = new Set(consumers.flatMap(({ publicKey }) => publicKey ?? []));
  const isTooFew = recipientCount < size;
  // The additional recipient may be the owner, whose readable copy is optional.
  const isTooMany = size > 0 && hasAllKeys(consumers) && recipientCount > size + 1;
  return isTooFew || isTooMany ? { reason: 'count', missing: [], stale: [] } : undefined;
}

function hasAllKeys(consumers: Sealing['consumers']): boolean {
  return consumers.every(({ publicKey }) => publicKey !== undefined);
}
