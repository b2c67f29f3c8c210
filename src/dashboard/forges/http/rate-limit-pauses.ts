import { ForgeError } from '../forge-error.js';

/** API quotas reset every hour, so a longer pause is an error of the forge. */
const MAX_PAUSE_MS = 3_600_000;

/** Stops requests to a forge while its rate limit is exceeded, separately for each quota. */
export interface RateLimitPauses {
  /** Checks that no pause is active. @throws ForgeError `rate_limited` until the pause ends. */
  assertNotPaused(...budgets: string[]): void;
  /** Starts a pause. @returns Its end, which may be earlier than requested. */
  start(budget: string, until: number): number;
}

export function createRateLimitPauses(now: () => number): RateLimitPauses {
  const ends = new Map<string, number>();
  return {
    assertNotPaused(...budgets) {
      const resetsAt = Math.max(...budgets.map((budget) => ends.get(budget) ?? 0));
      if (resetsAt > now()) throw new ForgeError('rate_limited', { resetsAt });
    },
    start(budget, until) {
      const end = Math.min(until, now() + MAX_PAUSE_MS);
      ends.set(budget, Math.max(end, ends.get(budget) ?? 0));
      return end;
    },
  };
}

/** Reads a Retry-After header, in seconds or as a date, as a time in milliseconds since the epoch. */
export function readRetryAfter(headers: Headers, at: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return at + Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
