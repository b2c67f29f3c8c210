import { createRequests, requireSuccess } from '../http/requests.js';
import type { Ask, Requests, RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import type { Rest } from '../http/rest.js';
import { readPartialData, readWholeData } from './graphql-answer.js';
import { findLimit, readBudget } from './limits.js';

export interface GithubOptions extends RequestsOptions {
  /** Where its REST API is; by default that of github.com. */
  readonly baseUrl?: string | undefined;
  readonly token: string;
}

type Variables = Readonly<Record<string, unknown>>;

export interface GithubRequests extends Rest, Pick<Requests, 'budgets'> {
  /** @returns The data, of which parts that aren't there for this credential are null. */
  graphql(query: string, variables: Variables): Promise<unknown>;
  /** The same, but with an error in any part it is refused. */
  mutate(query: string, variables: Variables): Promise<unknown>;
}

export function createGithubRequests({
  baseUrl = 'https://api.github.com',
  token,
  ...options
}: GithubOptions): GithubRequests {
  const requests = createRequests({ forge: 'github', headers: toHeaders(token), readBudget, findLimit }, options);
  const { budgets, ask, now } = requests;

  function toGraphql(body: unknown, read: typeof readWholeData): Ask<unknown> {
    return {
      resource: 'graphql',
      // A server of one's own has it beside `/v3`, where its REST API is.
      url: `${baseUrl.replace(/\/v3$/, '')}/graphql`,
      endpoint: '/graphql',
      method: 'POST',
      body,
      read: (answer) => read(requireSuccess(answer), now()),
    };
  }

  return {
    budgets,
    ...createRest(requests, baseUrl),
    graphql: (query, variables) => ask(toGraphql({ query, variables }, readPartialData)),
    mutate: (query, variables) => ask(toGraphql({ query, variables }, readWholeData)),
  };
}

function toHeaders(token: string): Record<string, string> {
  return {
    Authorization: `Bearer ${token}`,
    Accept: 'application/vnd.github+json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
    'X-GitHub-Api-Version': '2022-11-28',
  };
}
