import type { Caller } from '../accounts/callers.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import { pickVariant } from './variants.js';
import type { ObjectRef } from './variants.js';

/** A present value, and whose it is. */
export interface Readable {
  readonly id: string;
  readonly slug: string;
  readonly sealed: Uint8Array;
}

function selectPresent(database: Database, slug: string) {
  return database
    .selectFrom('secret_objects as objects')
    .innerJoin('secret_object_values as present', (join) =>
      join.onRef('present.object_id', '=', 'objects.id').onRef('present.version', '=', 'objects.version'),
    )
    .select(['objects.id as id', 'slug', 'sealed'])
    .where('slug', '=', slug)
    .limit(2);
}

interface Named {
  readonly slug: string;
}

interface Owned extends Named {
  readonly consumer: string;
}

const findByName = prepare((database, { slug }: Named) => selectPresent(database, slug));

const findById = prepare((database, { slug, id }: Named & { readonly id: string }) =>
  selectPresent(database, slug).where('objects.id', '=', id),
);

const findByConsumer = prepare((database, { slug, consumer }: Owned) =>
  selectPresent(database, slug)
    .innerJoin('secret_object_consumers as used', 'used.object_id', 'objects.id')
    .where('consumer', '=', consumer),
);

/**
 * Finds the value that a caller may read. To a consumer other variants than its
 * own, and names that have none of them, are not there: the same refusal, by the
 * same work.
 *
 * @throws AppError `not_found`, or `conflict` when it takes an id to say which.
 */
export async function findReadable(
  database: Database,
  { slug, id: given }: ObjectRef,
  caller: Caller | undefined,
): Promise<Readable> {
  const id = given?.toLowerCase();
  if (caller?.kind === 'consumer_token') {
    return pickVariant(await findByConsumer(database, { slug, consumer: caller.consumer }), id);
  }
  if (id === undefined) return pickVariant(await findByName(database, { slug }), id);
  return pickVariant(await findById(database, { slug, id }), id);
}
