import type { components } from '../generated/dashboard/types.js';

export type RateLimit = components['schemas']['RateLimit'];

const WARNING_SHARE = 0.2;
const LOW_SHARE = 0.05;

/** Grades what is left of a forge's budget at a moment, in milliseconds: what was exceeded may have been refilled since. */
export function gradeRateLimit(budget: RateLimit, at: number): RateLimit {
  return { ...budget, severity: severityOf(budget, at) };
}

function severityOf({ limit, remaining, resetsAt }: RateLimit, at: number): RateLimit['severity'] {
  if (remaining === 0 && at < Date.parse(resetsAt)) return 'exceeded';
  if (remaining === 0 || remaining < limit * LOW_SHARE) return 'low';
  return remaining < limit * WARNING_SHARE ? 'warning' : 'ok';
}
