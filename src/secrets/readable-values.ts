import type { Caller } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import type { Database } from '../storage/database.js';
import { prepareBatch } from '../storage/prepared.js';
import { selectVariant } from './variants.js';
import type { SecretRef } from './variants.js';

/** A current value, and the variant that it belongs to. */
export interface ReadableValue {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly sealed: Uint8Array;
}

/** A request to read a value. */
export interface ReadRequest {
  readonly ref: SecretRef;
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

/** The parameters of all three statements: each uses the slug, and at most one of the others. */
interface ReadParameters {
  readonly slug: string;
  readonly id: string;
  readonly consumer: string;
}

const findByName = prepareBatch((database, { slug }: ReadParameters) => selectPresent(database, slug));

const findById = prepareBatch((database, { slug, id }: ReadParameters) =>
  selectPresent(database, slug).where('objects.id', '=', id),
);

const findByConsumer = prepareBatch((database, { slug, consumer }: ReadParameters) =>
  selectPresent(database, slug)
    .innerJoin('secret_object_consumers as used', 'used.object_id', 'objects.id')
    .where('consumer', '=', consumer),
);

/**
 * Finds the values that callers can read, with at most one statement for each of the three kinds of request. A consumer
 * gets the same error, after the same database work, for variants of other consumers as for unknown slugs, so that
 * neither the response nor its time reveals whether a slug exists.
 *
 * @returns The results in the order of the requests; in place of a value, an AppError `not_found`, or `conflict` when
 * several variants share the slug and no id is given.
 */
export async function findReadableValues(
  database: Database,
  requests: readonly ReadRequest[],
): Promise<readonly (AppError | ReadableValue)[]> {
  const found = new Map<ReadRequest, AppError | ReadableValue>();
  for (const find of [findByName, findById, findByConsumer]) {
    const own = requests.filter((request) => selectFinder(request) === find);
    const variants = await find(database, own.map(toParameters));
    own.forEach((request, index) => found.set(request, pick(variants[index] ?? [], request)));
  }
  return requests.map((request) => found.get(request) ?? pick([], request));
}

function selectFinder({ ref, caller }: ReadRequest): typeof findByName {
  if (caller?.kind === 'consumer_token') return findByConsumer;
  return ref.id === undefined ? findByName : findById;
}

/** Lower-cases the id: hexadecimal digits are compared regardless of case. */
function toParameters({ ref: { slug, id = '' }, caller }: ReadRequest): ReadParameters {
  return { slug, id: id.toLowerCase(), consumer: caller?.kind === 'consumer_token' ? caller.consumer : '' };
}

function pick(variants: readonly ReadableValue[], { ref }: ReadRequest): AppError | ReadableValue {
  try {
    return selectVariant(variants, ref.id);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
