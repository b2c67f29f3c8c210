import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import { together } from '../together.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import type { NewAuditEntry } from './audit-actions.js';
import { appendAudits, inAuditedTransaction } from './audit-chain.js';
import { etagOf } from './object-etag.js';
import { findReadables } from './readable.js';
import type { Readable } from './readable.js';
import type { ObjectRef } from './variants.js';

/** A stored value, and the id of its variant. */
export interface ReadValue {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface PresentValue extends ReadValue {
  /** Identifies the value, for a conditional replacement. */
  readonly etag: string;
}

export interface ObjectReader {
  read(ref: ObjectRef, origin: Origin): Promise<PresentValue>;
}

/** The number of values per transaction, so that changes do not wait long; at 1 MiB each, 32 MiB. */
const MAX_TOGETHER = 32;

interface Reading {
  readonly ref: ObjectRef;
  readonly origin: Origin;
}

/**
 * Creates a reader that returns values and records each read in the audit log. Reads that arrive during a transaction
 * share the next one, because the transaction takes most of the time of a read. Must not be used inside another
 * transaction.
 */
export function createObjectReader(database: Database): ObjectReader {
  const readTogether = together<Reading, Outcome>(MAX_TOGETHER, (take) =>
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

type Outcome = { readonly value: PresentValue; readonly entry: NewAuditEntry } | { readonly error: AppError };

async function readEach(transaction: Database, readings: readonly Reading[]): Promise<readonly Outcome[]> {
  const requests = readings.map(({ ref, origin }) => ({ ref, caller: origin.caller }));
  const outcomes = (await findReadables(transaction, requests)).map(toOutcome);
  const entries = outcomes.flatMap((outcome, index) => {
    const origin = readings[index]?.origin;
    return 'entry' in outcome && origin !== undefined ? [{ entry: outcome.entry, origin }] : [];
  });
  if (entries.length > 0) await appendAudits(transaction, entries);
  return outcomes;
}

/** Keeps the error of one read away from the others; any other error rolls back the transaction of all. */
function toOutcome(found: AppError | Readable): Outcome {
  if (found instanceof AppError) return { error: found };
  const { id, slug, sealed } = found;
  return { value: { id, sealed, etag: etagOf(found) }, entry: { slug, variantId: id, action: 'read' } };
}
