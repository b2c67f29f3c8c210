import { parseJson } from '../http/exchange.js';
import type { ForgeAnswer } from '../http/exchange.js';
import { createRequests, requireSuccess } from '../http/requests.js';
import type { Ask, Dialect, Requests, RequestsOptions } from '../http/requests.js';
import { createRest } from '../http/rest.js';
import type { Rest } from '../http/rest.js';
import { readPartialData, readWholeData } from './graphql-answer.js';
import { findLimit, readHourlyBudget } from './limits.js';

export const GITHUB_API = 'https://api.github.com';

export interface GithubOptions extends RequestsOptions {
  /** Where its REST API is; by default that of github.com. */
  readonly baseUrl?: string | undefined;
  /** A token, or what gives the one of now. */
  readonly token: string | (() => Promise<string>);
}

type Variables = Readonly<Record<string, unknown>>;

/** Whose token it is; only a classic one has scopes, and the others come without. */
export interface Viewer {
  readonly login: string;
  readonly scopes: readonly string[];
}

export interface GithubRequests extends Rest, Pick<Requests, 'budgets'> {
  readViewer(): Promise<Viewer>;
  /** @returns The data, of which parts that aren't there for this credential are null. */
  graphql(query: string, variables: Variables): Promise<unknown>;
  /** The same, but with an error in any part it is refused: for changes, and for what is to be known for certain. */
  graphqlWhole(query: string, variables: Variables): Promise<unknown>;
}

export function createGithubRequests({ baseUrl = GITHUB_API, token, ...options }: GithubOptions): GithubRequests {
  const authorize = async (): Promise<string> => `Bearer ${typeof token === 'string' ? token : await token()}`;
  const requests = createRequests(toDialect(authorize), options);
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
    readViewer: () =>
      ask({ resource: 'rest', url: `${baseUrl}/user`, endpoint: '/user', method: 'GET', read: readViewer }),
    graphql: (query, variables) => ask(toGraphql({ query, variables }, readPartialData)),
    graphqlWhole: (query, variables) => ask(toGraphql({ query, variables }, readWholeData)),
  };
}

function readViewer(answer: ForgeAnswer): Viewer {
  const { text, headers } = requireSuccess(answer);
  const { login } = parseJson(text) as { readonly login: string };
  const scopes = headers.get('x-oauth-scopes')?.split(',') ?? [];
  return { login, scopes: scopes.map((scope) => scope.trim()).filter((scope) => scope !== '') };
}

/** Without a credential, GitHub shows what is public. */
export function toDialect(authorize?: () => Promise<string>): Dialect {
  const headers = {
    Accept: 'application/vnd.github+json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
    'X-GitHub-Api-Version': '2022-11-28',
  };
  return { forge: 'github', headers, authorize, readBudget: readHourlyBudget, findLimit };
}
