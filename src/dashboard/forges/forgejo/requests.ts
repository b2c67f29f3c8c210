import type { ForgeAnswer } from '../http/exchange.js';
import { readRetryAfter } from '../http/pauses.js';
import { createRequests } from '../http/requests.js';
import type { Limited, RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import type { Rest } from '../http/rest.js';

export interface ForgejoOptions extends RequestsOptions {
  /** The URL of the forge's pages. The API is below it. */
  readonly baseUrl: string;
  readonly token: string;
}

/** The pause after a rate limit error without a reset time, from Forgejo or a proxy. */
const DEFAULT_PAUSE_MS = 60_000;

export function createForgejoRequests({ baseUrl, token, ...options }: ForgejoOptions): Rest {
  const headers = {
    Authorization: `token ${token}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
  };
  // Forgejo reports no API quotas.
  const dialect = { forge: 'forgejo', headers, readBudget: () => undefined, findLimit } as const;
  return createRest(createRequests(dialect, options), `${baseUrl}/api/v1`);
}

function findLimit({ status, headers }: ForgeAnswer, at: number): Limited | undefined {
  if (status !== 429) return undefined;
  return { of: 'all', until: readRetryAfter(headers, at) ?? at + DEFAULT_PAUSE_MS };
}
