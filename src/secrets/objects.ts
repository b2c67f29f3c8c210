import { randomUUID } from 'node:crypto';
import type { ExpressionBuilder, Selectable } from 'kysely';
import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { SecretObjectsTable, Tables } from '../storage/tables.js';
import { toActor } from './actor.js';
import type { Actor, Origin } from './actor.js';
import { appendAudit } from './audit-chain.js';

/** What is known of an object; never its value. */
export interface SecretObject {
  readonly id: string;
  readonly slug: string;
  readonly tags: readonly string[];
  readonly usedBy: readonly string[];
  readonly description: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly createdBy: Actor;
  readonly updatedBy: Actor;
}

export interface NewSecretObject {
  readonly slug: string;
  /** The value as the caller sealed it. */
  readonly sealed: Uint8Array;
  readonly tags?: readonly string[];
  readonly usedBy?: readonly string[];
  readonly description?: string;
}

/** Objects must satisfy every filter that is given. */
export interface ObjectFilter {
  readonly usedBy?: string | undefined;
  /** All of them, in either case. */
  readonly tags?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface ObjectPage {
  readonly objects: readonly SecretObject[];
  /** How many match, over all pages. */
  readonly total: number;
  /** The offset of the next page; `undefined` on the last. */
  readonly next: number | undefined;
}

export interface SecretObjects {
  /** By slug, the variants of one in the order of their making. */
  list(caller: Caller | undefined, filter: ObjectFilter): Promise<ObjectPage>;
  /** Adds an object, and says so in the audit log. */
  create(object: NewSecretObject, origin: Origin): Promise<{ readonly id: string }>;
}

const DEFAULT_LIMIT = 50;

export function createSecretObjects(database: Database): SecretObjects {
  return {
    async list(caller, { limit = DEFAULT_LIMIT, offset = 0, ...filter }) {
      requireOwner(caller);
      const matching = database.selectFrom('secret_objects').where((where) => where.and(conditions(where, filter)));
      const { total } = await matching.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      const rows = await matching
        .selectAll()
        .orderBy('slug')
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute();
      const objects = rows.length === 0 ? [] : await toObjects(database, rows);
      return { objects, total, next: offset + limit < total ? offset + limit : undefined };
    },
    create: (object, origin) => inTransaction(database, (transaction) => create(transaction, object, origin)),
  };
}

type Where = ExpressionBuilder<Tables, 'secret_objects'>;

function conditions(where: Where, { usedBy, tags = [] }: ObjectFilter) {
  const found = [...new Set(tags.map((tag) => tag.toLowerCase()))].map((tag) =>
    where(
      'id',
      'in',
      where.selectFrom('secret_object_tags').select('object_id').where('secret_object_tags.tag', '=', tag),
    ),
  );
  if (usedBy === undefined) return found;
  const users = where.selectFrom('secret_object_consumers').select('object_id').where('consumer', '=', usedBy);
  return [...found, where('id', 'in', users)];
}

async function create(
  transaction: Database,
  object: NewSecretObject,
  origin: Origin,
): Promise<{ readonly id: string }> {
  const { type, id: actorId } = toActor(requireOwner(origin.caller));
  const id = randomUUID();
  await transaction
    .insertInto('secret_objects')
    .values({
      id,
      slug: object.slug,
      description: object.description ?? null,
      sealed: object.sealed,
      created_at: origin.at,
      updated_at: origin.at,
      created_by_type: type,
      created_by_id: actorId,
      updated_by_type: type,
      updated_by_id: actorId,
    })
    .execute();
  for (const consumer of new Set(object.usedBy)) {
    await transaction.insertInto('secret_object_consumers').values({ object_id: id, consumer }).execute();
  }
  for (const tag of new Set(object.tags?.map((text) => text.toLowerCase()))) {
    await transaction.insertInto('secret_object_tags').values({ object_id: id, tag }).execute();
  }
  await appendAudit(transaction, { slug: object.slug, variantId: id, action: 'create' }, origin);
  return { id };
}

async function toObjects(database: Database, rows: readonly Selectable<SecretObjectsTable>[]): Promise<SecretObject[]> {
  const ids = rows.map(({ id }) => id);
  const [tags, consumers] = [
    await database.selectFrom('secret_object_tags').selectAll().where('object_id', 'in', ids).orderBy('tag').execute(),
    await database
      .selectFrom('secret_object_consumers')
      .selectAll()
      .where('object_id', 'in', ids)
      .orderBy('consumer')
      .execute(),
  ];
  const of = <T extends { readonly object_id: string }>(all: readonly T[], id: string): readonly T[] =>
    all.filter(({ object_id }) => object_id === id);
  return rows.map((row) => ({
    id: row.id,
    slug: row.slug,
    tags: of(tags, row.id).map(({ tag }) => tag),
    usedBy: of(consumers, row.id).map(({ consumer }) => consumer),
    description: row.description ?? undefined,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    // Only what toActor() made is here.
    createdBy: { type: row.created_by_type as Actor['type'], id: row.created_by_id },
    updatedBy: { type: row.updated_by_type as Actor['type'], id: row.updated_by_id },
  }));
}
