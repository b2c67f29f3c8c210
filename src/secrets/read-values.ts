import { batch } from '@trellis/core/concurrency';
import { AppError } from '@trellis/core/errors';
import { type Caller, requireOwner } from '../accounts/callers.js';
import { type Database, inTransaction, isPostgres } from '../storage/database.js';
import { prepareBatch } from '../storage/prepared.js';
import { appendAuditEntries, type NewAuditEntry, type RequestOrigin } from './audit/chain.js';
import { type SecretRef, selectVariant, toSecretEtag } from './secret-records.js';
import { assertInScope } from './token-scope.js';

/** A stored value, and the id of its variant. */
export interface StoredValue {
  readonly id: string;
  readonly sealed: Uint8Array;
  /** The statement of its writer with the signature. */
  readonly signature: string | undefined;
}

export interface CurrentValue extends StoredValue {
  /** Identifies the value, for a conditional replacement. */
  readonly etag: string;
}

interface ValueReader {
  read(ref: SecretRef, origin: RequestOrigin): Promise<CurrentValue>;
}

/** The number of values per transaction, so that changes do not wait long; at 1 MiB each, 32 MiB. */
const MAX_TOGETHER = 32;

/** The batches at a time on PostgreSQL: one can be prepared while the other waits for the database. */
const POSTGRES_CONCURRENCY = 2;

interface Reading {
  readonly ref: SecretRef;
  readonly origin: RequestOrigin;
}

/**
 * Creates a reader that returns values and records each read in the audit log. Reads that arrive during a batch share the
 * next one, because the statements and the commit take most of the time of a read. Must not be used inside another
 * transaction.
 */
export function createValueReader(database: Database): ValueReader {
  const run = (take: () => readonly Reading[]): Promise<readonly Outcome[]> =>
    // The values are returned once the entries are committed, so PostgreSQL needs no transaction around both.
    isPostgres(database)
      ? readEach(database, take())
      : // `take` is called late, so that reads that arrived while the transaction waited for its lock are included.
        inTransaction(database, (transaction) => readEach(transaction, take()));
  const readTogether = batch(MAX_TOGETHER, run, { concurrency: isPostgres(database) ? POSTGRES_CONCURRENCY : 1 });
  return {
    async read(ref, origin) {
      if (origin.caller?.kind !== 'consumer_token') requireOwner(origin.caller);
      const outcome = await readTogether({ ref, origin });
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
  };
}

type Outcome = { readonly value: CurrentValue; readonly entry: NewAuditEntry } | { readonly error: AppError };

async function readEach(database: Database, readings: readonly Reading[]): Promise<readonly Outcome[]> {
  const requests = readings.map(({ ref, origin }) => ({ ref, caller: origin.caller }));
  const values = await findReadableValues(database, requests);
  const outcomes: Outcome[] = [];
  for (const [index, value] of values.entries()) {
    outcomes.push(toOutcome(await hideOutside(database, readings[index]?.origin.caller, value)));
  }
  const entries = outcomes.flatMap((outcome, index) => {
    const origin = readings[index]?.origin;
    return 'entry' in outcome && origin !== undefined ? [{ entry: outcome.entry, origin }] : [];
  });
  if (entries.length > 0) await appendAuditEntries(database, entries);
  return outcomes;
}

/** Replaces a value that a token's restrictions exclude by the error for an unknown secret. */
async function hideOutside(
  database: Database,
  caller: Caller | undefined,
  found: AppError | ReadableValue,
): Promise<AppError | ReadableValue> {
  if (found instanceof AppError) return found;
  try {
    await assertInScope(database, caller, found);
    return found;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Keeps the error of one read away from the others; any other error rolls back the transaction of all. */
function toOutcome(found: AppError | ReadableValue): Outcome {
  if (found instanceof AppError) return { error: found };
  const { id, slug, sealed, signature } = found;
  const value = { id, sealed, signature: signature ?? undefined, etag: toSecretEtag(found) };
  return { value, entry: { slug, variantId: id, action: 'read' } };
}

/** A current value, and the variant that it belongs to. */
interface ReadableValue {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly sealed: Uint8Array;
  readonly signature: string | null;
}

/** A request to read a value. */
interface ReadRequest {
  readonly ref: SecretRef;
  readonly caller: Caller | undefined;
}

function selectPresent(database: Database, slug: string) {
  return database
    .selectFrom('secret_objects as objects')
    .innerJoin('secret_object_values as present', (join) =>
      join.onRef('present.object_id', '=', 'objects.id').onRef('present.version', '=', 'objects.version'),
    )
    .select(['objects.id as id', 'objects.slug as slug', 'objects.version as version', 'sealed', 'signature'])
    .where('objects.slug', '=', slug)
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
async function findReadableValues(
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
