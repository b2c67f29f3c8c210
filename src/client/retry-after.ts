/** The forms of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT` and its two obsolete cousins. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * The wait that `Retry-After` asks for, in milliseconds and not capped; a date
 * already past is 0. `undefined` when there is no such header or when it makes
 * no sense (`0.5`, `-1`, `soon`): a lenient date parser reads the first two as
 * years long gone, and would retry at once.
 */
export function parseRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!HTTP_DATE.test(value)) return undefined;
  const until = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  // Measured on the server's own clock, where it says what time it is there.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
}
