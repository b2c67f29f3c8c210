/** Secrets that share a slug are its variants; a consumer belongs to at most one variant of a slug. */
import type { Selectable } from 'kysely';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { SecretObjectsTable } from '../storage/tables.js';

/** Identifies a secret: by its slug, or by slug and id when several variants share the slug. */
export interface SecretRef {
  readonly slug: string;
  /** The id of the variant. */
  readonly id?: string | undefined;
}

export type SecretTableRow = Selectable<SecretObjectsTable>;

/** Selects at most two variants, enough to detect an ambiguous slug, which can have thousands. */
const findBySlug = prepare((database, { slug }: { readonly slug: string }) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).limit(2),
);

const findById = prepare((database, { slug, id }: Required<SecretRef>) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).where('id', '=', id),
);

/**
 * Returns the variant that a reference identifies.
 *
 * @throws AppError `not_found` for an unknown slug or id; `conflict` when several variants share the slug and no id is
 * given.
 */
export async function getVariant(database: Database, { slug, id }: SecretRef): Promise<SecretTableRow> {
  // Hexadecimal digits are compared regardless of case.
  const variants =
    id === undefined ? findBySlug(database, { slug }) : findById(database, { slug, id: id.toLowerCase() });
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

export interface NewVariant {
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
    .where('slug', '=', renamed.slug)
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
    .where('slug', '=', slug)
    .where('consumer', 'in', consumers);
  if (except !== undefined) query = query.where('object_id', '<>', except);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

function alreadyExists(): AppError {
  return new AppError('conflict', 'object already exists', { field: 'slug' });
}
