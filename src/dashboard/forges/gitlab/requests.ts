import { ForgeError } from '../forge-error.js';
import type { Budget } from '../forge.js';
import { parseJson } from '../http/exchange.js';
import type { ForgeAnswer } from '../http/exchange.js';
import { readRetryAfter } from '../http/pauses.js';
import { createRequests, requireSuccess } from '../http/requests.js';
import type { Limited, Requests, RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import type { Rest } from '../http/rest.js';
import { findLacking, withoutFields } from './later-fields.js';

export interface GitlabOptions extends RequestsOptions {
  /** Where its pages are; the API is below. */
  readonly baseUrl: string;
  readonly token: string;
}

/** What a limit is worth when the server, or what is before it, doesn't say how long. */
const DEFAULT_PAUSE_MS = 60_000;

export interface GitlabRequests extends Rest, Pick<Requests, 'budgets'> {
  /**
   * @returns The data, whole: an error in any part is refused. Only fields that the server is too old for are missing;
   * once it has said so, they are not asked for again.
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
  const requests = createRequests({ forge: 'gitlab', headers, readBudget, findLimit }, options);
  const lacking = new Set<string>();

  async function graphql(query: string, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
    const known = lacking.size;
    try {
      return await requests.ask({
        resource: 'graphql',
        url: `${baseUrl}/api/graphql`,
        endpoint: '/graphql',
        method: 'POST',
        body: { query: withoutFields(query, lacking), variables },
        read: (answer) => readData(answer, lacking),
      });
    } catch (error) {
      if (lacking.size === known) throw error;
      return graphql(query, variables);
    }
  }

  return { budgets: requests.budgets, ...createRest(requests, `${baseUrl}/api/v4`), graphql };
}

/** What is hidden or gone is null without an error; an error is of the query, which may ask for what the server lacks. */
function readData(answer: ForgeAnswer, lacking: Set<string>): unknown {
  const { text, status } = requireSuccess(answer);
  // The shape that GraphQL over HTTP has; anything else comes without data.
  const { data, errors } = (parseJson(text) ?? {}) as { readonly data?: unknown; readonly errors?: unknown };
  if (typeof data === 'object' && data !== null && errors === undefined) return data;
  for (const field of findLacking(errors)) lacking.add(field);
  const cause = new Error(`GitLab answered with errors: ${text.slice(0, 500)}`);
  throw new ForgeError('unknown', { status, cause });
}

function readBudget(headers: Headers): Budget | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`) ?? '';
    return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetsAt: new Date(reset * 1000).toISOString() };
}

function findLimit({ status, headers }: ForgeAnswer, at: number): Limited | undefined {
  if (status !== 429) return undefined;
  const reset = Date.parse(readBudget(headers)?.resetsAt ?? '');
  const until = readRetryAfter(headers, at) ?? (Number.isNaN(reset) ? at + DEFAULT_PAUSE_MS : reset);
  return { of: 'everything', until };
}
