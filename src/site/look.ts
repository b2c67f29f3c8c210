import type { Meter } from './record-queries.js';

/** Checks are skipped while so little time passes between them; reading a clock costs 0.2 µs. */
const SHORT_MS = 0.05;

/** So few calls of a function that the dearest of them, some ten milliseconds each, pass unseen only for a moment. */
const MAX_SKIPPED = 8;

/**
 * Makes the function that a running statement calls for each row and each pattern.
 *
 * @param onLong Called once the statement has run for longer than the meter lets it; may throw.
 */
export function createLook(meter: Meter | undefined, onLong?: () => void): (() => void) | undefined {
  if (!meter) return undefined;
  const endsAt = performance.now() + meter.statementMs;
  let lookedAt = 0;
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
    skip = now - lookedAt < SHORT_MS ? Math.min(MAX_SKIPPED, skip + 1) : 0;
    lookedAt = now;
    if (now >= endsAt) onLong?.();
  };
}
