import type { ForgeResponse } from '../http/fetch-response.js';
import { readRetryAfter } from '../http/rate-limit-pauses.js';
import { createForgeRequests } from '../http/requests.js';
import type { LimitScope, ForgeRequestsOptions } from '../http/requests.js';
import { createRestClient } from '../http/rest.js';
import type { RestClient } from '../http/rest.js';

export interface ForgejoOptions extends ForgeRequestsOptions {
  /** The URL of the forge's pages. The API is below it. */
  readonly baseUrl: string;
  readonly token: string;
}

/** The pause after a rate limit error without a reset time, from Forgejo or a proxy. */
const DEFAULT_PAUSE_MS = 60_000;

export function createForgejoRequests({ baseUrl, token, ...options }: ForgejoOptions): RestClient {
  const headers = {
    Authorization: `token ${token}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
  };
  // Forgejo reports no API quotas.
  const dialect = { forge: 'forgejo', headers, readBudget: () => undefined, findLimit } as const;
  return createRestClient(createForgeRequests(dialect, options), `${baseUrl}/api/v1`);
}

function findLimit({ status, headers }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 429) return undefined;
  return { of: 'all', until: readRetryAfter(headers, at) ?? at + DEFAULT_PAUSE_MS };
}
