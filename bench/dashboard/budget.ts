import { createGithubForge } from '../../src/dashboard/forges/github/github-forge.js';
import { createAddressPolicy } from '../../src/dashboard/forges/http/address-policy.js';
import { createAgent } from '../../src/dashboard/forges/http/fetch-response.js';
import { LOOPBACK } from '../../tests/forges/forge-server.js';
import { githubIssue, githubPullRequest, githubRepository } from '../../tests/forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../tests/forges/github.js';
import { toTable } from '../table.js';

export interface BudgetBenchOptions {
  readonly repositories: number;
  readonly pullRequests: number;
}

const ORGANIZATIONS = 20;

/** As many repositories as a refresh reads together. */
const TOGETHER = 40;

/** A prime number, so that the repositories with most pull requests are far apart. */
const STRIDE = 379;

/** Above every cost, so that the quota ends no reading. */
const LIMIT = 1_000_000;

/**
 * Counts the points and requests that reading a large account costs at the test GitHub, which charges by GitHub's
 * published formula. No time is measured.
 */
export async function benchBudget({ repositories, pullRequests }: BudgetBenchOptions): Promise<string> {
  const server = await startGithub();
  const { graphql } = server.budgets;
  Object.assign(graphql, { limit: LIMIT, remaining: LIMIT });
  fill(server, { repositories, pullRequests });
  const agent = createAgent(createAddressPolicy({ allow: LOOPBACK }));
  const forge = createGithubForge({ agent, baseUrl: server.url, token: GITHUB_TOKEN, record: async () => undefined });
  const rows: string[][] = [];

  async function count<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = [graphql.remaining, server.seen.length] as const;
    const result = await work();
    rows.push([name, String(before[0] - graphql.remaining), String(server.seen.length - before[1])]);
    return result;
  }

  const found = await count('discovery', () => forge.discover());
  let read = 0;
  await count('all repositories', async () => {
    for (let start = 0; start < found.length; start += TOGETHER) {
      const part = await forge.read(found.slice(start, start + TOGETHER));
      read += part.repositories.reduce((sum, one) => sum + one.pullRequests.length, 0);
    }
  });
  await count(
    'search for pull requests of the user',
    () => forge.readInvolved?.(new Set(found.map(({ id }) => id))) ?? Promise.resolve(undefined),
  );
  await server.close();
  const title = `${found.length} repositories, ${read} open pull requests`;
  return toTable([title, 'points', 'requests'], rows);
}

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
    left -= own;
    const name = `org-${index % ORGANIZATIONS}/part-${String(index).padStart(5, '0')}`;
    repositories.push(
      githubRepository(name, {
        affiliation: 'ORGANIZATION_MEMBER',
        pullRequests: Array.from({ length: own }, (_none, place) => githubPullRequest(place + 1)),
        issues: index % 3 === 0 ? [githubIssue(5_000)] : [],
      }),
    );
  }
}
