import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from '../../src/accounts/accounts.js';
import type { Board } from '../../src/dashboard/boards/board.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { githubIssue, githubPullRequest, githubRepository } from '../../tests/forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../tests/forges/github.js';
import { build } from '../child.js';
import { type RunningServer, startServer } from '../server.js';
import { toTable } from '../table.js';

export interface BudgetBenchOptions {
  readonly repositories: number;
  readonly pullRequests: number;
}

const ORGANIZATIONS = 20;

/** The user opened one pull request of so many. */
const AUTHORS = 20;

/** A prime number, so that the repositories with most pull requests are far apart. */
const STRIDE = 379;

/** Above every cost, so that the quota ends no reading. */
const LIMIT = 1_000_000;

/** How often the board is read during a first reading. */
const POLL_MS = 100;

/**
 * Connects the built server to a large account at the test GitHub, which charges by GitHub's published formula. Counts
 * the points and requests of a first and a second reading, and measures when the first rows are on the board.
 */
export async function benchBudget(options: BudgetBenchOptions): Promise<string> {
  build();
  const state = path.join(mkdtempSync(path.join(tmpdir(), 'trellis-bench-budget-')), 'state');
  const github = await startGithub();
  try {
    fill(github, options);
    mkdirSync(state, { mode: 0o700 });
    const token = await createUser(state);
    const environment = { TRELLIS_STATE: state, TRELLIS_SERVICES: 'dashboard' };
    const server = await startServer(['dist/cli.js', 'serve'], environment, (origin) => fetch(`${origin}/api/version`));
    try {
      return await measure({ github, server, token }, options);
    } finally {
      await server.stop();
    }
  } finally {
    await github.close();
    rmSync(path.dirname(state), { recursive: true, force: true });
  }
}

async function createUser(state: string): Promise<string> {
  const database = await openDatabase({ file: path.join(state, 'trellis.db') });
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const { id } = await accounts.users.add({ username: 'mona', displayName: 'Mona' });
  const caller = await accounts.sessions.findCaller(await accounts.sessions.start(id));
  if (caller === undefined) throw new Error('Signing in returned no session.');
  const wanted = {
    label: 'bench',
    expiresAt: new Date(Date.now() + 86_400_000),
    scopes: ['read', 'write'] as ('read' | 'write')[],
  };
  const { token } = await accounts.tokens.create(caller, wanted, '127.0.0.1');
  await database.destroy();
  return token;
}

interface Setup {
  readonly github: TestGithub;
  readonly server: RunningServer;
  readonly token: string;
}

async function measure({ github, server, token }: Setup, options: BudgetBenchOptions): Promise<string> {
  const { graphql, core } = github.budgets;
  for (const budget of [graphql, core]) Object.assign(budget, { limit: LIMIT, remaining: LIMIT });
  const rows: string[][] = [];
  const megabytes = { largest: 0 };
  const send = async (method: string, address: string, body?: object): Promise<Board> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(server.origin + address, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${address} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as Board;
  };

  async function count(name: string, work: () => Promise<number | undefined>): Promise<void> {
    const before = [graphql.remaining, core.remaining, github.seen.length] as const;
    const startedAt = performance.now();
    const firstMs = await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const first = firstMs === undefined ? '' : ((firstMs - startedAt) / 1000).toFixed(1);
    const counts = [before[0] - graphql.remaining, before[1] - core.remaining, github.seen.length - before[2]];
    const largest = Math.max(megabytes.largest, server.megabytes());
    rows.push([name, ...counts.map(String), first, seconds.toFixed(1), largest.toFixed(0)]);
  }

  await count('first reading', async () => {
    await send('PUT', '/api/settings', { githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN });
    let firstMs: number | undefined;
    for (;;) {
      const { forges, pullRequests } = await send('GET', '/api/dashboard');
      if (pullRequests.length > 0) firstMs ??= performance.now();
      megabytes.largest = Math.max(megabytes.largest, server.megabytes());
      if (forges[0] !== undefined && forges[0].reading !== true) return firstMs;
      await sleep(POLL_MS);
    }
  });
  await count('second reading', async () => {
    const before = await send('GET', '/api/dashboard');
    // A long refresh continues after its request has timed out.
    await send('POST', '/api/dashboard/refresh').catch(() => undefined);
    while ((await send('GET', '/api/dashboard')).generatedAt === before.generatedAt) await sleep(POLL_MS);
    return undefined;
  });
  const { repos, pullRequests } = await send('GET', '/api/dashboard');
  const title = `${options.repositories} repositories, ${options.pullRequests} open pull requests`;
  const table = toTable(
    [title, 'points', 'of REST', 'requests', 'first rows, s', 'all, s', 'largest memory, MB'],
    rows,
  );
  return `${table}\n\n${repos.length} repositories and ${pullRequests.length} pull requests are on the board.`;
}

const toAuthor = (index: number) => (index % AUTHORS === 0 ? {} : { author: `user-${index % AUTHORS}` });

/** Gives repositories from none to many pull requests: half of them have none, and a few have most. */
function fill({ repositories }: TestGithub, { repositories: count, pullRequests }: BudgetBenchOptions): void {
  const busy = Math.ceil(count / 2);
  const total = Array.from({ length: busy }, (_none, index) => 1 / (index + 3)).reduce((sum, one) => sum + one, 0);
  let left = pullRequests;
  for (let index = 0; index < count; index += 1) {
    // Spread, as the names order the repositories.
    const rank = index % 2 === 0 ? ((index / 2) * STRIDE) % busy : busy;
    const wanted = rank === busy ? 0 : Math.ceil(pullRequests / (rank + 3) / total);
    const own = Math.min(wanted, left);
    const opened = pullRequests - left;
    left -= own;
    const name = `org-${index % ORGANIZATIONS}/part-${String(index).padStart(5, '0')}`;
    repositories.push(
      githubRepository(name, {
        affiliation: 'ORGANIZATION_MEMBER',
        pullRequests: Array.from({ length: own }, (_none, place) =>
          githubPullRequest(place + 1, toAuthor(opened + place)),
        ),
        issues: index % 3 === 0 ? [githubIssue(5_000)] : [],
      }),
    );
  }
}
