import { createHmac, randomUUID } from 'node:crypto';
import { serveForge, type TestResponse, type ForgeServer, type RecordedRequest } from './forge-server.js';
import { issueInstallationToken, isAppToken, type TestApp } from './github-app.js';
import { countPullRequests, executeGithub, findRepository, type GithubGraphqlState } from './github-graphql.js';
import { createUpdates } from './github-public.js';
import { handleRestRequest, readLogStorage } from './github-rest.js';
import { costOfGithubQuery } from './github-schema.js';
import type { GithubRepository } from './github-state.js';
import { deliverTo, type DeliveryMetadata, type ForgeEvent, type SignedDelivery } from './hooks.js';

export const GITHUB_TOKEN = 'ghp_test';

type BudgetName = 'anonymous' | 'core' | 'graphql' | 'search';

interface Budget {
  limit: number;
  remaining: number;
  /** In seconds since the epoch. */
  reset: number;
}

export interface TestGithub extends ForgeServer {
  readonly login: string;
  /** The state of the forge. Tests may change it at any time. */
  readonly repositories: GithubRepository[];
  /** The API quotas. Requests without a token use `anonymous`; searches use `search`, a quota per minute. */
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  /** An App that is installed in all repositories. */
  app: TestApp | undefined;
  repeatsPages: boolean;
  /** The part of checks that the token has no access to. */
  hiddenChecks: GithubGraphqlState['hiddenChecks'];
  /** The numbers of the pull requests that GitHub fails to compute. */
  brokenPullRequests: readonly number[];
  /** The error of every search. */
  searchError: GithubGraphqlState['searchError'];
  /** The number of pull requests that GitHub can process in one query, and its response to a larger query. */
  capacity: number;
  overload: TestResponse;
  /** The organizations that require single sign-on, for which the token is not authorized. */
  hiddenOrganizations: readonly string[];
  organizationPolicy: GithubGraphqlState['organizationPolicy'];
  /** Fine-grained tokens of the same user, with the only owner whose repositories each of them covers. */
  ownerTokens: ReadonlyMap<string, string>;
  /** GitHub's clock, in milliseconds. */
  clock: () => number;
  /** When the tokens expire, as GitHub formats it. */
  tokenExpiration: string | undefined;
  /** The teams of the token's user. */
  teams: readonly string[];
  /** The scopes of a classic token; empty for a fine-grained one. */
  scopes: readonly string[];
  /** Whether the scopes of the token include webhooks. */
  mayWriteHooks: boolean;
  /** Delivers an event to the subscribed webhooks of a repository. Returns the statuses of their responses. */
  deliver(fullName: string, event: Partial<ForgeEvent>): Promise<number[]>;
}

/** Starts a test GitHub with the operations that the client uses. Actions change its state. */
export async function startGithub(repositories: readonly GithubRepository[] = []): Promise<TestGithub> {
  const reset = Math.ceil(Date.now() / 1000) + 1800;
  const budgets: Record<BudgetName, Budget> = {
    core: { limit: 5000, remaining: 5000, reset },
    graphql: { limit: 5000, remaining: 5000, reset },
    anonymous: { limit: 60, remaining: 60, reset },
    search: { limit: 10, remaining: 10, reset: Math.ceil(Date.now() / 1000) + 60 },
  };

  function headersOf(seen: RecordedRequest, status: number): Record<string, string> {
    if (readLogStorage(seen, forge) !== undefined) return {};
    const name = budgetOf(seen);
    const budget = budgets[name];
    // Responses with 304 don't count against the quota, except for anonymous requests.
    if (status !== 304 || seen.headers.authorization === undefined)
      budget.remaining = Math.max(budget.remaining - (name === 'graphql' ? costOf(seen) : 1), 0);
    return {
      Date: new Date(forge.clock()).toUTCString(),
      'X-RateLimit-Limit': String(budget.limit),
      'X-RateLimit-Remaining': String(budget.remaining),
      'X-RateLimit-Reset': String(budget.reset),
      'X-RateLimit-Resource': name === 'anonymous' ? 'core' : name,
      ...(forge.tokenExpiration !== undefined &&
        seen.headers.authorization !== undefined && {
          'GitHub-Authentication-Token-Expiration': forge.tokenExpiration,
        }),
    };
  }

  async function answer(asked: RecordedRequest): Promise<TestResponse> {
    const seen = { ...asked, path: toPath(asked) };
    const log = readLogStorage(seen, forge);
    if (log !== undefined) return log;
    if (forge.app && seen.path.startsWith('/app/')) return issueInstallationToken(forge.app, seen);
    const who = findWho(seen, forge);
    const owner = forge.ownerTokens.get(tokenOf(seen) ?? '');
    const isGraphql = seen.path === '/graphql';
    if (who === undefined || (who === 'anonymous' && isGraphql)) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const isSpent = budgets[budgetOf(seen)].remaining === 0;
    // A fine-grained token can read all public repositories, but writes to those of its owner only.
    const repositoriesOfToken = forge.repositories.filter(
      ({ nameWithOwner, isPrivate }) => owner === undefined || !isPrivate || nameWithOwner.startsWith(`${owner}/`),
    );
    const seenBy = { ...forge, repositories: repositoriesOfToken, isApp: who === 'app' };
    if (owner !== undefined && !isGraphql && seen.method !== 'GET' && !seen.path.startsWith(`/repos/${owner}/`)) {
      return { status: 403, body: { message: 'Resource not accessible by personal access token' } };
    }
    if (seen.path === '/issues' || isFirstPage(seen)) updates.note(forge.repositories, forge.clock());
    if (isGraphql && isSpent) return { body: SPENT_GRAPHQL };
    if (isGraphql)
      return countPullRequests(seen.body, forge) > forge.capacity
        ? forge.overload
        : { headers: ssoHeaders(forge), body: await executeGithub(seen.body, seenBy) };
    if (isSpent) return { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' } };
    if (who !== 'user' && seen.path === '/issues') return who === 'app' ? NOT_FOR_APPS : NOT_SIGNED_IN;
    if (who !== 'anonymous') return handleRestRequest(seen, { ...forge, updates, repositories: repositoriesOfToken });
    return handleRestRequest(seen, {
      ...forge,
      updates,
      repositories: forge.repositories.filter(({ isPrivate }) => !isPrivate),
    });
  }

  const updates = createUpdates();
  /** The cost of the query that is executed. */
  const cost = 1;
  const server = await serveForge({ forge: 'github', answer, headersOf });
  const rateLimit = () => {
    const { limit, remaining } = budgets.graphql;
    return { cost, limit, remaining, used: limit - remaining, resetAt: new Date(reset * 1000).toISOString() };
  };
  const forge = Object.assign(server, {
    login: 'mona',
    repositories: [...repositories],
    budgets,
    app: undefined as TestApp | undefined,
    rateLimit,
    origin: 'https://github.com',
    repeatsPages: false,
    hiddenChecks: undefined as GithubGraphqlState['hiddenChecks'],
    brokenPullRequests: [] as readonly number[],
    searchError: undefined as GithubGraphqlState['searchError'],
    capacity: Infinity,
    overload: BAD_GATEWAY,
    hiddenOrganizations: [],
    organizationPolicy: undefined as GithubGraphqlState['organizationPolicy'],
    ownerTokens: new Map() as ReadonlyMap<string, string>,
    clock: Date.now,
    tokenExpiration: undefined as string | undefined,
    teams: [],
    scopes: ['repo'],
    mayWriteHooks: true,
    deliver: (fullName: string, { name = 'pull_request', payload, ...event }: Partial<ForgeEvent>) => {
      const repository = findRepository(forge.repositories, fullName);
      const about = { action: 'synchronize', repository: { full_name: repository?.nameWithOwner }, ...payload };
      return deliverTo(repository?.hooks ?? [], { ...event, name, payload: about }, githubDelivery);
    },
  });
  return forge;
}

function budgetOf(seen: RecordedRequest): BudgetName {
  const path = toPath(seen);
  if (path === '/graphql') return 'graphql';
  if (path.startsWith('/search/')) return 'search';
  return seen.headers.authorization === undefined ? 'anonymous' : 'core';
}

/** Returns the cost of the query in a request. */
function costOf({ body }: RecordedRequest): number {
  const { query, variables = {} } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  return costOfGithubQuery(query, variables);
}

/** Whether a request begins to list all repositories. */
const isFirstPage = ({ body }: RecordedRequest): boolean =>
  body.includes('query Discover') && body.includes('"after":null');

const tokenOf = ({ headers }: RecordedRequest): string | undefined => headers.authorization?.replace('Bearer ', '');

function findWho(seen: RecordedRequest, { app, ownerTokens }: Pick<TestGithub, 'app' | 'ownerTokens'>) {
  const token = tokenOf(seen);
  if (token === undefined) return 'anonymous';
  if (token === GITHUB_TOKEN || ownerTokens.has(token)) return 'user';
  return app !== undefined && isAppToken(app, token) ? 'app' : undefined;
}

/** Returns the path without the prefix of GitHub Enterprise Server: `/api` for GraphQL, `/api/v3` for REST. */
const toPath = ({ path }: RecordedRequest): string => path.replace(/^\/api(\/v3)?(?=\/)/, '');

const NOT_FOR_APPS: TestResponse = { status: 403, body: { message: 'Resource not accessible by integration' } };
const NOT_SIGNED_IN: TestResponse = { status: 401, body: { message: 'Requires authentication' } };

/** The response of GitHub's proxy when a request takes longer than 10 seconds. */
const BAD_GATEWAY: TestResponse = { status: 502, body: { message: 'Server Error' } };

const SPENT_GRAPHQL = { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }] };

/** Creates a signed webhook delivery of GitHub. */
export function githubDelivery(
  secret: string,
  payload: object,
  { event = 'pull_request', delivery = randomUUID() }: DeliveryMetadata = {},
) {
  const body = Buffer.from(JSON.stringify(payload));
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-delivery': delivery,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { body, headers } satisfies SignedDelivery;
}

/** GitHub names the page on which the token can be authorized. */
function ssoHeaders(forge: TestGithub): Record<string, string> {
  const { hiddenOrganizations, organizationPolicy, repositories } = forge;
  const [name] = hiddenOrganizations;
  if (organizationPolicy !== undefined) return {};
  if (name === undefined || !repositories.some((one) => one.nameWithOwner.startsWith(`${name}/`))) return {};
  return { 'X-GitHub-SSO': `required; url=https://github.com/orgs/${name}/sso?authorization_request=abc` };
}
