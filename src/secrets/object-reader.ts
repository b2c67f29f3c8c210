import { setImmediate } from 'node:timers/promises';
import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import type { NewAuditEntry } from './audit-actions.js';
import { appendAudits, inAuditedTransaction } from './audit-chain.js';
import { findReadables } from './readable.js';
import type { Readable } from './readable.js';
import type { ObjectRef } from './variants.js';

/** A value as it was stored, and the variant that it is of. */
export interface ReadValue {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface ObjectReader {
  read(ref: ObjectRef, origin: Origin): Promise<ReadValue>;
}

/** What one transaction reads at most, so that a change does not wait long: of the largest values 32 MiB. */
const MAX_TOGETHER = 32;

interface Reading {
  readonly ref: ObjectRef;
  readonly origin: Origin;
  readonly resolve: (value: ReadValue) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads values, each with its entry in the audit log. Those that are asked for
 * while a transaction is under way share the next one, as most of the time that a
 * read takes is a transaction's. Must not be called inside another transaction.
 */
export function createObjectReader(database: Database): ObjectReader {
  const waiting: Reading[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length > 0) {
      // SQLite answers before anything else has its turn: so that the requests that have arrived are all here.
      await setImmediate();
      await readTogether(database, waiting);
    }
    isRunning = false;
  }

  return {
    async read(ref, origin) {
      if (origin.caller?.kind !== 'consumer_token') requireOwner(origin.caller);
      return new Promise((resolve, reject) => {
        waiting.push({ ref, origin, resolve, reject });
        void runAll();
      });
    },
  };
}

type Outcome = { readonly value: ReadValue; readonly entry: NewAuditEntry } | { readonly refusal: AppError };

/** Settles some of those that wait, and never throws. */
async function readTogether(database: Database, waiting: Reading[]): Promise<void> {
  const readings: Reading[] = [];
  try {
    const outcomes = await inAuditedTransaction(database, (transaction) => {
      // Who came while the transaction waited for its turn is taken along; one that is run again stays as it is.
      if (readings.length === 0) readings.push(...waiting.splice(0, MAX_TOGETHER));
      return readEach(transaction, readings);
    });
    for (const [index, { resolve, reject }] of readings.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined && 'value' in outcome) resolve(outcome.value);
      else reject(outcome?.refusal);
    }
  } catch (error) {
    // One that never began has taken nobody along yet.
    for (const { reject } of readings.length > 0 ? readings : waiting.splice(0)) reject(error);
  }
}

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
  return { value: { id, sealed }, entry: { slug, variantId: id, action: 'read' } };
}
