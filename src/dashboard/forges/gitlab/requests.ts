import { ForgeError } from '../forge-error.js';
import type { ApiQuota } from '../forge.js';
import { type ForgeResponse, parseForgeJson } from '../http/fetch-response.js';
import {
  assertSuccess,
  createForgeRequests,
  type ForgeRequests,
  type ForgeRequestsOptions,
  type LimitScope,
  readRetryAfter,
  createRestClient,
  type RestClient,
} from '../http/requests.js';

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

// Fields that older servers don't have. Such a server rejects a query with an unknown field as a whole.

const REVIEW_STATE = 'mergeRequestInteraction { reviewState }';

/**
 * The text to remove from a query for each unsupported field. GitLab 17.4 added `closedAt`, 16.9 `isForked`, 15.6
 * `detailedMergeStatus`.
 */
const LATER: Readonly<Record<string, string>> = {
  isForked: 'isForked',
  detailedMergeStatus: 'detailedMergeStatus',
  mergeRequestInteraction: REVIEW_STATE,
  reviewState: REVIEW_STATE,
  // Requires a GitLab edition with approval rules.
  approved: 'approved',
  closedAt: 'closedAt',
  bot: 'bot',
};

/** Removes the unsupported fields from a query. */
function removeFields(query: string, lacking: ReadonlySet<string>): string {
  const removed = Array.from(lacking, (field) => LATER[field] ?? '').filter((text) => text !== '');
  return removed.reduce((text, field) => text.replace(new RegExp(`(?<=\\s)${field}(?=\\s)`, 'g'), ''), query);
}

/** Finds the optional fields among those that a server rejected. */
function findUnsupportedFields(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    const { message } = (error ?? {}) as { readonly message?: unknown };
    const [, field = ''] = /^Field '(\w+)' doesn't exist on type '\w+'/.exec(String(message)) ?? [];
    return Object.hasOwn(LATER, field) ? [field] : [];
  });
}

/** Returns the path of a project in GitLab's REST API, where the full name with its groups is one segment. */
export function toProjectPath(fullName: string): string {
  return `/projects/${encodeURIComponent(fullName)}`;
}

/** Returns the number at the end of a GraphQL id, which is the id in the REST API. */
export function toRestId(globalId: string): string {
  return globalId.replace(/^.*\//, '');
}
