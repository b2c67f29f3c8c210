import type { HiddenRepositories } from '../forge.js';
import { type ForgeResponse, parseForgeJson } from '../http/fetch-response.js';
import {
  assertSuccess,
  createForgeRequests,
  type ForgeProtocol,
  type ForgeRequest,
  type ForgeRequests,
  type ForgeRequestsOptions,
} from '../http/requests.js';
import { createRestClient, type RestClient } from '../http/rest.js';
import { findHidden, findLimit, readHourlyQuota, readPartialData, readWholeData } from './responses.js';

export const GITHUB_API = 'https://api.github.com';

export interface GithubOptions extends ForgeRequestsOptions {
  /** The URL of the REST API. Defaults to github.com's. */
  readonly baseUrl?: string;
  /** A token, or a function that returns the current one. */
  readonly token: string | (() => Promise<string>);
}

type Variables = Readonly<Record<string, unknown>>;

/** The user of a token. Only classic tokens have scopes. */
interface Viewer {
  readonly login: string;
  readonly scopes: readonly string[];
}

export interface GithubRequests extends RestClient, Pick<ForgeRequests, 'budgets' | 'now'> {
  /** When the token expires, as of the latest response. GitHub reports it for personal tokens with an expiry. */
  expiresAt: number | undefined;
  /** Why GitHub hid repositories from queries since this was last cleared. */
  hidden: HiddenRepositories | undefined;
  /** The time of the latest response to a query by GitHub's clock, in milliseconds. */
  servedAt: number | undefined;
  readViewer(): Promise<Viewer>;
  /** Sends a query. @returns The data; parts that the credential has no access to are null. */
  graphql(query: string, variables: Variables): Promise<unknown>;
  /** Sends a query or mutation and throws for an error in any part. */
  graphqlWhole(query: string, variables: Variables): Promise<unknown>;
}

export function createGithubRequests({ baseUrl = GITHUB_API, token, ...options }: GithubOptions): GithubRequests {
  const authorize = async (): Promise<string> => `Bearer ${typeof token === 'string' ? token : await token()}`;
  const requests = createForgeRequests(toGithubProtocol(authorize), options);
  const { budgets, ask, now } = requests;

  function toGraphql(body: unknown, read: typeof readWholeData): ForgeRequest<unknown> {
    return {
      resource: 'graphql',
      // GitHub Enterprise Server has GraphQL at `/api/graphql` and REST at `/api/v3`.
      url: `${baseUrl.replace(/\/v3$/, '')}/graphql`,
      endpoint: '/graphql',
      method: 'POST',
      body,
      read(response) {
        client.hidden = findHidden(response) ?? client.hidden;
        client.expiresAt = readExpiry(response.headers) ?? client.expiresAt;
        client.servedAt = readTime(response.headers.get('date'));
        return read(assertSuccess(response), now());
      },
    };
  }

  const client: GithubRequests = {
    budgets,
    now,
    hidden: undefined,
    servedAt: undefined,
    expiresAt: undefined,
    ...createRestClient(requests, baseUrl),
    readViewer: () =>
      ask({ resource: 'rest', url: `${baseUrl}/user`, endpoint: '/user', method: 'GET', read: readViewer }),
    graphql: (query, variables) => ask(toGraphql({ query, variables }, readPartialData)),
    graphqlWhole: (query, variables) => ask(toGraphql({ query, variables }, readWholeData)),
  };
  return client;
}

/** Reads a time such as `2026-12-01 08:00:00 UTC`, or with an offset. */
const readExpiry = (headers: Headers): number | undefined =>
  readTime(headers.get('github-authentication-token-expiration'));

function readTime(text: string | null): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function readViewer(response: ForgeResponse): Viewer {
  const { text, headers } = assertSuccess(response);
  const { login } = parseForgeJson(text) as { readonly login: string };
  const scopes = headers.get('x-oauth-scopes')?.split(',') ?? [];
  return { login, scopes: scopes.map((scope) => scope.trim()).filter((scope) => scope !== '') };
}

/** Returns GitHub's conventions. Without a credential, GitHub returns public data only. */
export function toGithubProtocol(authorize?: () => Promise<string>): ForgeProtocol {
  const headers = {
    Accept: 'application/vnd.github+json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
    'X-GitHub-Api-Version': '2022-11-28',
  };
  return { forge: 'github', headers, authorize, readBudget: readHourlyQuota, findLimit };
}

/**
 * Converts the URL of GitHub's pages to the URL of its REST API; an empty URL stands for github.com. GitHub Enterprise
 * Server has its API below the pages. github.com and the enterprise cloud (ghe.com) have it on a separate host.
 */
export function toGithubApiUrl(url: string): string {
  if (url === '' || /^https?:\/\/(www\.)?github\.com$/.test(url)) return 'https://api.github.com';
  const [, cloud] = /^https:\/\/([a-z0-9-]+\.ghe\.com)$/.exec(url) ?? [];
  return cloud === undefined ? `${url}/api/v3` : `https://api.${cloud}`;
}

/** Converts the URL of the REST API to the URL of the pages. */
export function toGithubWebUrl(apiUrl: string): string {
  return apiUrl.replace(/\/api\/v3$/, '').replace(/^https:\/\/api\./, 'https://');
}
