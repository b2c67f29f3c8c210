import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../core/errors.js';
import { batch } from '../core/batch.js';
import type { Database } from '../storage/database.js';
import type { RequestOrigin } from './actor.js';
import type { NewAuditEntry } from './audit-actions.js';
import { appendAuditEntries, inAuditedTransaction } from './audit-chain.js';
import { toSecretEtag } from './secret-etag.js';
import { findReadableValues } from './readable-values.js';
import type { ReadableValue } from './readable-values.js';
import type { SecretRef } from './variants.js';

/** A stored value, and the id of its variant. */
export interface StoredValue {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface CurrentValue extends StoredValue {
  /** Identifies the value, for a conditional replacement. */
  readonly etag: string;
}

export interface ValueReader {
  read(ref: SecretRef, origin: RequestOrigin): Promise<CurrentValue>;
}

/** The number of values per transaction, so that changes do not wait long; at 1 MiB each, 32 MiB. */
const MAX_TOGETHER = 32;

interface Reading {
  readonly ref: SecretRef;
  readonly origin: RequestOrigin;
}

/**
 * Creates a reader that returns values and records each read in the audit log. Reads that arrive during a transaction
 * share the next one, because the transaction takes most of the time of a read. Must not be used inside another
 * transaction.
 */
export function createValueReader(database: Database): ValueReader {
  const readTogether = batch<Reading, Outcome>(MAX_TOGETHER, (take) =>
    // `take` is called late, so that reads that arrived while the transaction waited for its lock are included.
    inAuditedTransaction(database, (transaction) => readEach(transaction, take())),
  );
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

async function readEach(transaction: Database, readings: readonly Reading[]): Promise<readonly Outcome[]> {
  const requests = readings.map(({ ref, origin }) => ({ ref, caller: origin.caller }));
  const outcomes = (await findReadableValues(transaction, requests)).map(toOutcome);
  const entries = outcomes.flatMap((outcome, index) => {
    const origin = readings[index]?.origin;
    return 'entry' in outcome && origin !== undefined ? [{ entry: outcome.entry, origin }] : [];
  });
  if (entries.length > 0) await appendAuditEntries(transaction, entries);
  return outcomes;
}

/** Keeps the error of one read away from the others; any other error rolls back the transaction of all. */
function toOutcome(found: AppError | ReadableValue): Outcome {
  if (found instanceof AppError) return { error: found };
  const { id, slug, sealed } = found;
  return { value: { id, sealed, etag: toSecretEtag(found) }, entry: { slug, variantId: id, action: 'read' } };
}
