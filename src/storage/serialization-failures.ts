import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../core/errors.js';

/**
 * The PostgreSQL error codes of conflicting transactions: a serialization failure, a deadlock, and a unique key that
 * two transactions inserted at the same time.
 */
const CONFLICTS = ['40001', '40P01', '23505'];

/** Only other processes cause conflicts, with one transaction each at a time, so few tries are needed. */
const MAX_TRIES = 10;
const FIRST_WAIT_MS = 5;
const MAX_WAIT_MS = 200;

/**
 * Repeats a transaction as long as it fails because of a concurrent one.
 *
 * @throws AppError `unavailable` after too many conflicts. A duplicate key is thrown unchanged in that case, because it
 * may not be due to a conflict.
 */
export async function retrySerializationFailures<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries === MAX_TRIES) throw toFailure(error);
    }
    // Full jitter, so that the conflicting transactions do not meet again.
    await sleep(Math.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
  }
}

function isConflict(error: unknown): error is Error & { readonly code: string } {
  return typeof error === 'object' && error !== null && 'code' in error && CONFLICTS.includes(String(error.code));
}

function toFailure(error: Error & { readonly code: string }): Error {
  if (error.code === '23505') return error;
  const options = { cause: error, headers: { 'Retry-After': '1' } };
  return new AppError('unavailable', 'The database is busy. Retry in a second.', options);
}
