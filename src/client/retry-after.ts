/** Matches the date format of RFC 9110, `Sun, 06 Nov 1994 08:49:37 GMT`, and its two obsolete formats. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Returns the wait of `Retry-After` in milliseconds, without a cap; 0 for a date in the past. Returns `undefined` when
 * the header is missing or invalid (`0.5`, `-1`, `soon`). A lenient date parser would read the first two as dates in
 * the past and cause an immediate retry.
 */
export function parseRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATE.test(value)) return undefined;
  const until = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  // Compared with the `Date` header, if present, so that a difference between the clocks doesn't matter.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
}
