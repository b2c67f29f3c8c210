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

/** A value as it was stored, and the variant that it is of. */
export interface ReadValue {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface PresentValue extends ReadValue {
  /** Names it, for whoever is to replace it. */
  readonly etag: string;
}

export interface ObjectReader {
  read(ref: ObjectRef, origin: Origin): Promise<PresentValue>;
}

/** What one transaction reads at most, so that a change does not wait long: of the largest values 32 MiB. */
const MAX_TOGETHER = 32;

interface Reading {
  readonly ref: ObjectRef;
  readonly origin: Origin;
}

/**
 * Reads values, each with its entry in the audit log. Those that are asked for
 * while a transaction is under way share the next one, as most of the time that a
 * read takes is a transaction's. Must not be called inside another transaction.
 */
export function createObjectReader(database: Database): ObjectReader {
  const readTogether = together<Reading, Outcome>(MAX_TOGETHER, (take) =>
    // Who came while the transaction waited for its turn is taken along.
    inAuditedTransaction(database, (transaction) => readEach(transaction, take())),
  );
  return {
    async read(ref, origin) {
      if (origin.caller?.kind !== 'consumer_token') requireOwner(origin.caller);
      const outcome = await readTogether({ ref, origin });
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.value;
    },
  };
}

type Outcome = { readonly value: PresentValue; readonly entry: NewAuditEntry } | { readonly refusal: AppError };

async function readEach(transaction: Database, readings: readonly Reading[]): Promise<readonly Outcome[]> {
  const wishes = readings.map(({ ref, origin }) => ({ ref, caller: origin.caller }));
  const outcomes = (await findReadables(transaction, wishes)).map(toOutcome);
  const entries = outcomes.flatMap((outcome, index) => {
    const origin = readings[index]?.origin;
    return 'entry' in outcome && origin !== undefined ? [{ entry: outcome.entry, origin }] : [];
  });
  if (entries.length > 0) await appendAudits(transaction, entries);
  return outcomes;
}

/** What is refused is nobody else's matter; anything that is thrown undoes all. */
function toOutcome(found: AppError | Readable): Outcome {
  if (found instanceof AppError) return { refusal: found };
  const { id, slug, sealed } = found;
  return { value: { id, sealed, etag: etagOf(found) }, entry: { slug, variantId: id, action: 'read' } };
}
