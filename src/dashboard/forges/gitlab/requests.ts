import { ForgeError } from '../forge-error.js';
import type { ApiQuota } from '../forge.js';
import { parseForgeJson } from '../http/fetch-response.js';
import type { ForgeResponse } from '../http/fetch-response.js';
import { readRetryAfter } from '../http/rate-limit-pauses.js';
import { createForgeRequests, assertSuccess } from '../http/requests.js';
import type { LimitScope, ForgeRequests, ForgeRequestsOptions } from '../http/requests.js';
import { createRestClient } from '../http/rest.js';
import type { RestClient } from '../http/rest.js';
import { findUnsupportedFields, removeFields } from './unsupported-fields.js';

export interface GitlabOptions extends ForgeRequestsOptions {
  /** The URL of GitLab's pages. The API is below it. */
  readonly baseUrl: string;
  readonly token: string;
}

/** The pause after a rate limit error without a reset time, from GitLab or a proxy. */
const DEFAULT_PAUSE_MS = 60_000;

export interface GitlabRequests extends RestClient, Pick<ForgeRequests, 'budgets'> {
  /**
   * Sends a query and throws for an error in any part. Fields that the server is too old for are missing from the data:
   * after the server has rejected them once, queries omit them.
   */
  graphql(query: string, variables: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export function createGitlabRequests({ baseUrl, token, ...options }: GitlabOptions): GitlabRequests {
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
  };
  const requests = createForgeRequests({ forge: 'gitlab', headers, readBudget, findLimit }, options);
  const lacking = new Set<string>();

  async function graphql(query: string, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
    const known = lacking.size;
    try {
      return await requests.ask({
        resource: 'graphql',
        url: `${baseUrl}/api/graphql`,
        endpoint: '/graphql',
        method: 'POST',
        body: { query: removeFields(query, lacking), variables },
        read: (response) => readData(response, lacking),
      });
    } catch (error) {
      if (lacking.size === known) throw error;
      return graphql(query, variables);
    }
  }

  return { budgets: requests.budgets, ...createRestClient(requests, `${baseUrl}/api/v4`), graphql };
}

/**
 * Reads the data of a response. GitLab returns null without an error for hidden and deleted objects, so that an error
 * means that the query is invalid, for example because of a field that the server doesn't have.
 */
function readData(response: ForgeResponse, lacking: Set<string>): unknown {
  const { text, status } = assertSuccess(response);
  // A body that is not a GraphQL over HTTP response has no data.
  const { data, errors } = (parseForgeJson(text) ?? {}) as { readonly data?: unknown; readonly errors?: unknown };
  if (typeof data === 'object' && data !== null && errors === undefined) return data;
  for (const field of findUnsupportedFields(errors)) lacking.add(field);
  const cause = new Error(`GitLab returned errors: ${text.slice(0, 500)}`);
  throw new ForgeError('unknown', { status, cause });
}

function readBudget(headers: Headers): ApiQuota | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? '';
    return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetsAt: new Date(reset * 1000).toISOString() };
}

function findLimit({ status, headers }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 429) return undefined;
  const reset = Date.parse(readBudget(headers)?.resetsAt ?? '');
  const until = readRetryAfter(headers, at) ?? (Number.isNaN(reset) ? at + DEFAULT_PAUSE_MS : reset);
  return { of: 'all', until };
}
