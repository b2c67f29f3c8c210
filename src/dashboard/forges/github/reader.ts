import type { ForgeRepository, RepositoryReading } from '../facts.js';
import { isOdd, MAX_ISSUES, MAX_PULL_REQUESTS, toReadingWithin, unique } from '../bounded.js';
import type { Forge } from '../forge.js';
import { FieldError, readRest } from '../http/connections.js';
import { mapListed, mapSound } from '../sound.js';
import { createBatches, isTooHeavy } from './batches.js';
import type { Reach } from './discovery.js';
import type { RateLimitNode, WholeRepositoryNode } from './nodes.js';
import { MORE_ISSUES, MORE_PULL_REQUESTS, READ_REPOSITORIES, READ_REPOSITORY } from './queries.js';
import type { GithubRequests } from './requests.js';
import { isFollowed, toIssueFacts, toPullRequestFacts, toRepository } from './to-facts.js';

/** Pull requests per page, and the page size after a timeout of GitHub. */
const PAGE_SIZE = 50;
const SMALL_PAGE_SIZE = 10;

type Reader = Pick<Forge, 'discover' | 'read' | 'readRepository'>;
type Variables = Record<string, unknown>;

/** A repository of a batch. */
interface Entry {
  readonly id: string;
  /** Null when it was deleted or is hidden. */
  readonly node: FieldError | WholeRepositoryNode | null;
}

export function createGithubReader(requests: GithubRequests, reach: Reach): Reader {
  const batches = createBatches();

  async function query<T>(text: string, variables: Variables): Promise<T> {
    const data = (await requests.graphql(text, variables)) as T & { readonly rateLimit?: RateLimitNode | null };
    const { graphql } = requests.budgets;
    const cost = data.rateLimit?.cost;
    if (graphql && typeof cost === 'number') {
      requests.budgets.graphql = { ...graphql, cost: (graphql.cost ?? 0) + Math.max(Math.round(cost), 0) };
    }
    return data;
  }

  /** Creates a function that reads pages of one repository. After a timeout of GitHub it reads small pages. */
  function createPager() {
    let pageSize = PAGE_SIZE;
    return async function ask<T>(text: string, variables: Variables): Promise<T> {
      try {
        return await query<T>(text, { ...variables, pageSize });
      } catch (error) {
        if (!isTooHeavy(error) || pageSize === SMALL_PAGE_SIZE) throw error;
        pageSize = SMALL_PAGE_SIZE;
        return ask(text, variables);
      }
    };
  }

  type Pager = ReturnType<typeof createPager>;

  async function readBatch(repositories: readonly ForgeRepository[], ask: Pager | typeof query): Promise<Entry[]> {
    const ids = repositories.map(({ id }) => id);
    const { nodes } = await ask<{ nodes: readonly Entry['node'][] }>(READ_REPOSITORIES, { ids, pageSize: PAGE_SIZE });
    return ids.map((id, index) => ({ id, node: nodes[index] ?? null }));
  }

  async function readWhole(node: WholeRepositoryNode, ask: Pager = createPager()): Promise<RepositoryReading> {
    const { id } = node;
    const pulls = await readRest(node.pullRequests, MAX_PULL_REQUESTS, async (pullRequestsAfter) => {
      const more = await ask<{ node: Pick<WholeRepositoryNode, 'pullRequests'> }>(MORE_PULL_REQUESTS, {
        id,
        pullRequestsAfter,
      });
      return more.node.pullRequests;
    });
    const issues = await readRest(node.issues, MAX_ISSUES, async (issuesAfter) => {
      const more = await ask<{ node: Pick<WholeRepositoryNode, 'issues'> }>(MORE_ISSUES, { id, issuesAfter });
      return more.node.issues;
    });
    const rows = await mapSound(pulls.nodes, (one) => toPullRequestFacts(one, node));
    const issueRows = await mapSound(issues.nodes.slice(0, MAX_ISSUES), (one) => toIssueFacts(one, node));
    return {
      repository: toRepository(node, reach),
      pullRequests: unique(rows.mapped),
      issues: unique(issueRows.mapped),
      incomplete: pulls.missing + rows.odd,
    };
  }

  /** Reads a repository of a batch. @returns `undefined` if it is deleted or hidden, its id if it could not be read. */
  async function readEntry({ id, node }: Entry, pager?: Pager): Promise<RepositoryReading | string | undefined> {
    if (node instanceof FieldError) return node.kind === 'unknown' ? id : undefined;
    try {
      return node !== null && isFollowed(node, reach) ? await readWhole(node, pager) : undefined;
    } catch (error) {
      if (isTooHeavy(error) || isOdd(error)) return id;
      throw error;
    }
  }

  return {
    async discover() {
      requests.budgets.graphql = withoutCost(requests.budgets.graphql);
      const nodes = await reach.discover(query);
      return mapListed(nodes, (node) => (isFollowed(node, reach) ? [toRepository(node, reach)] : []));
    },
    async read(repositories) {
      const { results, failed } = await batches.read(repositories, async (batch) => {
        const pager = batch.length === 1 ? createPager() : undefined;
        const entries = await readBatch(batch, pager ?? query);
        const read: (RepositoryReading | string | undefined)[] = [];
        for (const entry of entries) read.push(await readEntry(entry, pager));
        return read;
      });
      const all = results.flat();
      const unread = [...failed.map(({ id }) => id), ...all.filter((one) => typeof one === 'string')];
      return toReadingWithin(
        all.filter((one) => typeof one === 'object'),
        unread,
      );
    },
    async readRepository(fullName) {
      const [owner, name] = fullName.split('/');
      const ask = createPager();
      const { repository } = await ask<{ repository: WholeRepositoryNode | null }>(READ_REPOSITORY, { owner, name });
      return repository && isFollowed(repository, reach) ? readWhole(repository, ask) : undefined;
    },
  };
}

function withoutCost(budget: GithubRequests['budgets']['graphql']): typeof budget {
  if (budget === undefined) return undefined;
  const { limit, remaining, resetsAt } = budget;
  return { limit, remaining, resetsAt };
}
