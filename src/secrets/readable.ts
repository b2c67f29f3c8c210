import type { Caller } from '../accounts/callers.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import { prepareEach } from '../storage/prepared-each.js';
import { pickVariant } from './variants.js';
import type { ObjectRef } from './variants.js';

/** A present value, and whose it is. */
export interface Readable {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly sealed: Uint8Array;
}

/** What somebody would like to read. */
export interface Wish {
  readonly ref: ObjectRef;
  readonly caller: Caller | undefined;
}

function selectPresent(database: Database, slug: string) {
  return database
    .selectFrom('secret_objects as objects')
    .innerJoin('secret_object_values as present', (join) =>
      join.onRef('present.object_id', '=', 'objects.id').onRef('present.version', '=', 'objects.version'),
    )
    .select(['objects.id as id', 'slug', 'objects.version as version', 'sealed'])
    .where('slug', '=', slug)
    .limit(2);
}

/** Each way to look for a value uses the name, and one of the others or none. */
interface Given {
  readonly slug: string;
  readonly id: string;
  readonly consumer: string;
}

const findByName = prepareEach((database, { slug }: Given) => selectPresent(database, slug));

const findById = prepareEach((database, { slug, id }: Given) =>
  selectPresent(database, slug).where('objects.id', '=', id),
);

const findByConsumer = prepareEach((database, { slug, consumer }: Given) =>
  selectPresent(database, slug)
    .innerJoin('secret_object_consumers as used', 'used.object_id', 'objects.id')
    .where('consumer', '=', consumer),
);

/**
 * Finds the values that callers may read, in the order of the wishes, by as few
 * statements as will do. To a consumer other variants than its own, and names
 * that have none of them, are not there: the same refusal, by the same work.
 *
 * @returns in the place of a value why it is refused: AppError `not_found`, or
 * `conflict` when it takes an id to say which.
 */
export async function findReadables(
  database: Database,
  wishes: readonly Wish[],
): Promise<readonly (AppError | Readable)[]> {
  const found = new Map<Wish, AppError | Readable>();
  for (const find of [findByName, findById, findByConsumer]) {
    const own = wishes.filter((wish) => findFor(wish) === find);
    const variants = await find(database, own.map(toGiven));
    own.forEach((wish, place) => found.set(wish, pick(variants[place] ?? [], wish)));
  }
  return wishes.map((wish) => found.get(wish) ?? pick([], wish));
}

function findFor({ ref, caller }: Wish): typeof findByName {
  if (caller?.kind === 'consumer_token') return findByConsumer;
  return ref.id === undefined ? findByName : findById;
}

/** Hexadecimal digits of either case are one id. */
function toGiven({ ref: { slug, id = '' }, caller }: Wish): Given {
  return { slug, id: id.toLowerCase(), consumer: caller?.kind === 'consumer_token' ? caller.consumer : '' };
}

function pick(variants: readonly Readable[], { ref }: Wish): AppError | Readable {
  try {
    return pickVariant(variants, ref.id);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
