import { createHmac, randomUUID } from 'node:crypto';
import { serveForge } from './forge-server.js';
import type { Answer, ForgeServer, Seen } from './forge-server.js';
import { giveToken, isAppToken } from './github-app.js';
import type { TestApp } from './github-app.js';
import { countPullRequests, executeGithub, findRepository } from './github-graphql.js';
import type { GithubGraphqlState } from './github-graphql.js';
import { answerRest } from './github-rest.js';
import type { GithubRepository } from './github-state.js';
import { deliverTo } from './hooks.js';
import type { About, Event, Sent } from './hooks.js';

export const GITHUB_TOKEN = 'ghp_test';

type BudgetName = 'anonymous' | 'core' | 'graphql' | 'search';

interface Budget {
  limit: number;
  remaining: number;
  /** In seconds, as GitHub says it. */
  reset: number;
}

export interface TestGithub extends ForgeServer {
  readonly login: string;
  /** Changed at will: what is asked next is answered from it. */
  readonly repositories: GithubRepository[];
  /** Whoever asks without a token has `anonymous`, and everybody `search` by the minute. */
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  /** An App that is installed wherever there is a repository. */
  app: TestApp | undefined;
  repeatsPages: boolean;
  /** What the token may not read of checks. */
  hiddenChecks: GithubGraphqlState['hiddenChecks'];
  /** The numbers of pull requests that GitHub fails to compute. */
  brokenPullRequests: readonly number[];
  /** How many pull requests GitHub copes with in one query, and what it answers to a query for more. */
  capacity: number;
  overload: Answer;
  /** Of a classic token; a fine-grained one tells none. */
  scopes: readonly string[];
  /** Whether the token's scopes allow it. */
  mayWriteHooks: boolean;
  /** Tells the webhooks of a repository that ask for it what happened there; gives the statuses of their answers. */
  deliver(fullName: string, event: Partial<Event>): Promise<number[]>;
}

/** A GitHub that speaks what our client asks, with state that actions change. */
export async function startGithub(repositories: readonly GithubRepository[] = []): Promise<TestGithub> {
  const reset = Math.ceil(Date.now() / 1000) + 1800;
  const budgets: Record<BudgetName, Budget> = {
    core: { limit: 5000, remaining: 5000, reset },
    graphql: { limit: 5000, remaining: 5000, reset },
    anonymous: { limit: 60, remaining: 60, reset },
    search: { limit: 10, remaining: 10, reset: Math.ceil(Date.now() / 1000) + 60 },
  };

  function headersOf(seen: Seen, status: number): Record<string, string> {
    const name = budgetOf(seen);
    const budget = budgets[name];
    // What has not changed costs nothing, but for whoever doesn't say who they are.
    if (status !== 304 || seen.headers.authorization === undefined)
      budget.remaining = Math.max(budget.remaining - 1, 0);
    return {
      'X-RateLimit-Limit': String(budget.limit),
      'X-RateLimit-Remaining': String(budget.remaining),
      'X-RateLimit-Reset': String(budget.reset),
      'X-RateLimit-Resource': name === 'anonymous' ? 'core' : name,
    };
  }

  async function answer(asked: Seen): Promise<Answer> {
    const seen = { ...asked, path: toPath(asked) };
    if (forge.app && seen.path.startsWith('/app/')) return giveToken(forge.app, seen);
    const who = findWho(seen, forge.app);
    const isGraphql = seen.path === '/graphql';
    if (who === undefined || (who === 'anybody' && isGraphql)) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const isSpent = budgets[budgetOf(seen)].remaining === 0;
    const seenBy = { ...forge, isApp: who === 'app' };
    if (isGraphql && isSpent) return { body: SPENT_GRAPHQL };
    if (isGraphql)
      return countPullRequests(seen.body, forge) > forge.capacity
        ? forge.overload
        : { body: await executeGithub(seen.body, seenBy) };
    if (isSpent) return { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' } };
    if (who !== 'anybody') return answerRest(seen, forge);
    return answerRest(seen, { ...forge, repositories: forge.repositories.filter(({ isPrivate }) => !isPrivate) });
  }

  const server = await serveForge({ answer, headersOf });
  const rateLimit = () => {
    const { limit, remaining } = budgets.graphql;
    return { cost: 1, limit, remaining, used: limit - remaining, resetAt: new Date(reset * 1000).toISOString() };
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
    capacity: Infinity,
    overload: BAD_GATEWAY,
    scopes: ['repo'],
    mayWriteHooks: true,
    deliver: (fullName: string, { name = 'pull_request', payload, ...event }: Partial<Event>) => {
      const repository = findRepository(forge.repositories, fullName);
      const about = { action: 'synchronize', repository: { full_name: repository?.nameWithOwner }, ...payload };
      return deliverTo(repository?.hooks ?? [], { ...event, name, payload: about }, githubDelivery);
    },
  });
  return forge;
}

function budgetOf(seen: Seen): BudgetName {
  const path = toPath(seen);
  if (path === '/graphql') return 'graphql';
  if (path.startsWith('/search/')) return 'search';
  return seen.headers.authorization === undefined ? 'anonymous' : 'core';
}

function findWho({ headers: { authorization } }: Seen, app: TestApp | undefined) {
  if (authorization === undefined) return 'anybody';
  const token = authorization.replace('Bearer ', '');
  if (token === GITHUB_TOKEN) return 'person';
  return app !== undefined && isAppToken(app, token) ? 'app' : undefined;
}

/** Its API is on a host of its own, or as that of a server of one's own below `/api` and `/api/v3`. */
const toPath = ({ path }: Seen): string => path.replace(/^\/api(\/v3)?(?=\/)/, '');

/** What comes from before GitHub when it takes longer than 10 seconds. */
const BAD_GATEWAY: Answer = { status: 502, body: { message: 'Server Error' } };

const SPENT_GRAPHQL = { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 1.' }] };

/** What GitHub sends to a webhook. */
export function githubDelivery(
  secret: string,
  payload: object,
  { event = 'pull_request', delivery = randomUUID() }: About = {},
) {
  const body = Buffer.from(JSON.stringify(payload));
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-delivery': delivery,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { body, headers } satisfies Sent;
}
