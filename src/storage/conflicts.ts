import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../errors.js';

/**
 * What PostgreSQL calls it when transactions were in each other's way: a
 * serialization failure, a deadlock, and a key that two made at once from what
 * they had read.
 */
const CONFLICTS = ['40001', '40P01', '23505'];

/** Only other processes are in the way, one transaction of each at a time, so a few tries are plenty. */
const MAX_TRIES = 10;
const FIRST_WAIT_MS = 5;
const MAX_WAIT_MS = 200;

/**
 * Runs a transaction again while it fails because of another one.
 *
 * @throws AppError `unavailable` when that was so every time; an error of a key
 * that is there already as it is, for that need not be another's doing.
 */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (tries === MAX_TRIES) throw toFailure(error);
    }
    // Full jitter: those who met now are apart the next time.
    await sleep(Math.random() * Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
  }
}

function isConflict(error: unknown): error is Error & { readonly code: string } {
  return typeof error === 'object' && error !== null && 'code' in error && CONFLICTS.includes(String(error.code));
}

function toFailure(error: Error & { readonly code: string }): Error {
  if (error.code === '23505') return error;
  const options = { cause: error, headers: { 'Retry-After': '1' } };
  return new AppError('unavailable', 'The database has too much to do; try again in a second.', options);
}
