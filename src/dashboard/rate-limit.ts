import type { components } from '../generated/dashboard/types.js';

export type RateLimit = components['schemas']['RateLimit'];

const WARNING_SHARE = 0.2;
const LOW_SHARE = 0.05;

/** Sets the severity of an API quota at a time in milliseconds, because an exceeded quota may have been reset since. */
export function withSeverity(quota: RateLimit, at: number): RateLimit {
  return { ...quota, severity: severityOf(quota, at) };
}

function severityOf({ limit, remaining, resetsAt }: RateLimit, at: number): RateLimit['severity'] {
  if (remaining === 0 && at < Date.parse(resetsAt)) return 'exceeded';
  if (remaining === 0 || remaining < limit * LOW_SHARE) return 'low';
  return remaining < limit * WARNING_SHARE ? 'warning' : 'ok';
}
