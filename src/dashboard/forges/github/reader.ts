import type { RepositoryReading } from '../facts.js';
import { MAX_ISSUES, MAX_PULL_REQUESTS, toReadingWithin, unique } from '../bounded.js';
import type { Forge } from '../forge.js';
import { compact, readRest } from '../http/connections.js';
import type { Reach } from './discovery.js';
import type { IssueNode, PullRequestNode, RateLimitNode, RepositoryNode, WholeRepositoryNode } from './nodes.js';
import { MORE_ISSUES, MORE_PULL_REQUESTS, READ_REPOSITORIES, READ_REPOSITORY } from './queries.js';
import type { GithubRequests } from './requests.js';
import { isFollowed, toIssueFacts, toPullRequestFacts, toRepository } from './to-facts.js';

/** More in one query take GitHub longer than the 10 seconds that it gives itself. */
const REPOSITORIES_A_QUERY = 20;

type Reader = Pick<Forge, 'discover' | 'read' | 'readRepository'>;

export function createGithubReader(requests: GithubRequests, reach: Reach): Reader {
  async function query<T>(text: string, variables: Record<string, unknown>): Promise<T> {
    const data = (await requests.graphql(text, variables)) as T & { readonly rateLimit?: RateLimitNode | null };
    const { graphql } = requests.budgets;
    if (graphql && data.rateLimit) {
      requests.budgets.graphql = { ...graphql, cost: (graphql.cost ?? 0) + data.rateLimit.cost };
    }
    return data;
  }

  async function readWhole(node: WholeRepositoryNode): Promise<RepositoryReading> {
    const { id } = node;
    const pullRequests = await readRest(node.pullRequests, MAX_PULL_REQUESTS, async (pullRequestsAfter) => {
      const more = await query<{ node: Pick<WholeRepositoryNode, 'pullRequests'> }>(MORE_PULL_REQUESTS, {
        id,
        pullRequestsAfter,
      });
      return more.node.pullRequests;
    });
    const issues = await readRest(node.issues, MAX_ISSUES, async (issuesAfter) => {
      const more = await query<{ node: Pick<WholeRepositoryNode, 'issues'> }>(MORE_ISSUES, { id, issuesAfter });
      return more.node.issues;
    });
    return { repository: toRepository(node, reach), ...toFacts(node, { pullRequests, issues }) };
  }

  return {
    async discover() {
      requests.budgets.graphql = withoutCost(requests.budgets.graphql);
      const nodes = await reach.discover(query);
      return nodes.filter((node) => isFollowed(node, reach)).map((node) => toRepository(node, reach));
    },
    async read(repositories) {
      const readings: RepositoryReading[] = [];
      for (let start = 0; start < repositories.length; start += REPOSITORIES_A_QUERY) {
        const ids = repositories.slice(start, start + REPOSITORIES_A_QUERY).map(({ id }) => id);
        const { nodes } = await query<{ nodes: readonly (WholeRepositoryNode | null)[] }>(READ_REPOSITORIES, { ids });
        for (const node of compact(nodes)) if (isFollowed(node, reach)) readings.push(await readWhole(node));
      }
      return toReadingWithin(readings);
    },
    async readRepository(fullName) {
      const [owner, name] = fullName.split('/');
      const found = await query<{ repository: WholeRepositoryNode | null }>(READ_REPOSITORY, { owner, name });
      return found.repository && isFollowed(found.repository, reach) ? readWhole(found.repository) : undefined;
    },
  };
}

function toFacts(
  node: RepositoryNode,
  {
    pullRequests,
    issues,
  }: { readonly pullRequests: readonly PullRequestNode[]; readonly issues: readonly IssueNode[] },
): Pick<RepositoryReading, 'issues' | 'pullRequests'> {
  return {
    pullRequests: unique(pullRequests).map((one) => toPullRequestFacts(one, node)),
    issues: unique(issues.slice(0, MAX_ISSUES)).map((one) => toIssueFacts(one, node)),
  };
}

function withoutCost(budget: GithubRequests['budgets']['graphql']): typeof budget {
  if (budget === undefined) return undefined;
  const { limit, remaining, resetsAt } = budget;
  return { limit, remaining, resetsAt };
}
