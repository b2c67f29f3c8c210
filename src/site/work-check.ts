import type { WorkMeter } from './record-queries.js';

/** Calls skip the check while less time than this passes between checks, as reading the clock costs 0.2 µs. */
const SHORT_MS = 0.05;

/** Few enough that even the most expensive calls, about 10 ms each, delay the next check only briefly. */
const MAX_SKIPPED = 8;

/**
 * Creates the function that a running statement calls for each row and each pattern.
 *
 * @param onLong Called when the statement has run for longer than `meter.statementMs`; may throw.
 */
export function createWorkCheck(meter: WorkMeter | undefined, onLong?: () => void): (() => void) | undefined {
  if (!meter) return undefined;
  const endsAt = performance.now() + meter.statementMs;
  let checkedAt = 0;
  let skip = 0;
  let skipped = 0;
  return () => {
    if (skipped < skip) {
      skipped += 1;
      return;
    }
    skipped = 0;
    meter.check();
    const now = performance.now();
    skip = now - checkedAt < SHORT_MS ? Math.min(MAX_SKIPPED, skip + 1) : 0;
    checkedAt = now;
    if (now >= endsAt) onLong?.();
  };
}
