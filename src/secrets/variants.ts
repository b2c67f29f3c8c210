/** Objects that share a name are its variants; within one name a consumer belongs to a single one. */
import type { Selectable } from 'kysely';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { SecretObjectsTable } from '../storage/tables.js';

/** Which object: the name is enough unless several objects share it. */
export interface ObjectRef {
  readonly slug: string;
  /** Of the variant. */
  readonly id?: string | undefined;
}

export type ObjectRow = Selectable<SecretObjectsTable>;

/** Of two, neither is meant: a name may have a variant for each of thousands of hosts. */
const findBySlug = prepare((database, { slug }: { readonly slug: string }) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).limit(2),
);

const findById = prepare((database, { slug, id }: Required<ObjectRef>) =>
  database.selectFrom('secret_objects').selectAll().where('slug', '=', slug).where('id', '=', id),
);

/** @throws AppError `not_found` when no object of that name has that id, `conflict` when it takes an id to say which. */
export async function requireVariant(database: Database, { slug, id }: ObjectRef): Promise<ObjectRow> {
  // Hexadecimal digits of either case are one id.
  const variants =
    id === undefined ? findBySlug(database, { slug }) : findById(database, { slug, id: id.toLowerCase() });
  return pickVariant(await variants, id);
}

/** @throws AppError as {@link requireVariant}. */
export function pickVariant<T extends { readonly id: string }>(variants: readonly T[], id: string | undefined): T {
  // Hexadecimal digits of either case are one id.
  const wanted = id?.toLowerCase();
  const [found, other] = wanted === undefined ? variants : variants.filter((variant) => variant.id === wanted);
  if (found === undefined) throw new AppError('not_found', 'unknown object');
  if (other === undefined) return found;
  throw new AppError('conflict', 'several objects have this name; an id says which', { field: 'id' });
}

export interface NewVariant {
  readonly slug: string;
  readonly consumers: readonly string[];
}

/**
 * Holds an object that is to be made to the rule of variants, in the transaction that makes it.
 *
 * @throws AppError `conflict` when the name is taken, and it has no consumers or one that another variant has.
 */
export async function requireRoomForNew(transaction: Database, { slug, consumers }: NewVariant): Promise<void> {
  if ((await findBySlug(transaction, { slug })).length === 0) return;
  if (consumers.length === 0 || (await isShared(transaction, { slug, consumers }))) throw alreadyExists();
}

/**
 * As {@link requireRoomForNew} for an object that moves to another name: there it
 * is refused beside a variant without consumers too.
 */
export async function requireRoomForRenamed(transaction: Database, id: string, renamed: NewVariant): Promise<void> {
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

/** @throws AppError `conflict` when another variant of the object's name has one of the consumers. */
export async function requireOwnConsumers(
  transaction: Database,
  { id, slug }: ObjectRow,
  consumers: readonly string[],
): Promise<void> {
  if (!(await isShared(transaction, { slug, consumers, except: id }))) return;
  throw new AppError('conflict', 'consumer belongs to another variant', { field: 'used_by' });
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
