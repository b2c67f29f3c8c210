/** Reads GitHub's rate limits and API quotas from responses. */
import type { ApiQuota } from '../forge.js';
import type { ForgeResponse } from '../http/fetch-response.js';
import { readRetryAfter } from '../http/rate-limit-pauses.js';
import type { LimitScope } from '../http/requests.js';

/** GitHub's recommended pause after a secondary rate limit without Retry-After. */
const SECONDARY_PAUSE_MS = 60_000;

/** Ignores the separate per-minute quota of searches, which does not limit how long a board can be read. */
export function readHourlyQuota(headers: Headers): ApiQuota | undefined {
  return headers.get('x-ratelimit-resource') === 'search' ? undefined : readQuota(headers);
}

export function readQuota(headers: Headers): ApiQuota | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => readCount(headers, name));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetsAt: new Date(reset * 1000).toISOString() };
}

function readCount(headers: Headers, name: string): number | undefined {
  const text = headers.get(`x-ratelimit-${name}`) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

/**
 * Finds the exceeded rate limit in a response.
 *
 * @returns `undefined` for any other response, such as 403 for a permission.
 */
export function findLimit({ status, headers, text }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = readRetryAfter(headers, at);
  if (retryAfter !== undefined) return { of: 'all', until: retryAfter };
  const budget = readQuota(headers);
  if (budget?.remaining === 0) return { of: 'quota', until: Date.parse(budget.resetsAt) };
  const isSecondary = status === 429 || /secondary rate limit|abuse detection/i.test(text);
  return isSecondary ? { of: 'all', until: at + SECONDARY_PAUSE_MS } : undefined;
}
