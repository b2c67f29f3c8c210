import { LRUCache } from 'lru-cache';
import { ForgeError } from '../forge-error.js';
import type { Forge, ForgeRepository, RepositorySnapshot } from '../forge.js';
import { fetchRemainingPages, FieldError } from '../http/graphql-pages.js';
import {
  isInvalidResponse,
  mapRepositories,
  mapValid,
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  toOwnerAndName,
  truncateSnapshot,
  uniqueByNumber,
} from '../read-repositories.js';
import type { RepositoryAccess } from './access.js';
import { createHistoryReader } from './history.js';
import { createInvolvedReader } from './involved.js';
import type { RateLimitNode, RepositoryNode, WholeRepositoryNode } from './nodes.js';
import { asksTeam, belongsOnBoard, isEmpty, toForgeIssue, toForgePullRequest, toRepository } from './parse.js';
import { MORE_ISSUES, MORE_PULL_REQUESTS, READ_REPOSITORIES, READ_REPOSITORY } from './queries.js';
import { createBatchReader, isTimeout, type GithubRequests } from './requests.js';
import { createOutdatedFinder } from './statuses.js';

/** Pull requests per page, and the page size after a timeout of GitHub. */
const PAGE_SIZE = 50;
const SMALL_PAGE_SIZE = 10;
const ISSUE_PAGE_SIZE = 50;

type Reader = Pick<Forge, 'discover' | 'findOutdated' | 'read' | 'readHistory' | 'readInvolved' | 'readRepository'>;
type Variables = Record<string, unknown>;

/** The numbers of open pull requests and issues of a repository when it was last listed or read. */
interface Size {
  readonly pullRequests: number;
  readonly issues: number;
}

const UNKNOWN_SIZE: Size = { pullRequests: PAGE_SIZE, issues: ISSUE_PAGE_SIZE };

/** A repository of a batch. */
interface Entry {
  readonly id: string;
  /** Null when it was deleted or is hidden. */
  readonly node: FieldError | WholeRepositoryNode | null;
}

export function createGithubReader(requests: GithubRequests, reach: RepositoryAccess): Reader {
  const batches = createBatchReader();
  const sizes = new LRUCache<string, Size>({ max: MAX_REPOSITORIES });

  function noteSize({ id, latestPullRequests, latestIssues }: RepositoryNode): void {
    const { pullRequests, issues } = UNKNOWN_SIZE;
    const toCount = (count: number, otherwise: number): number => (Number.isInteger(count) ? count : otherwise);
    sizes.set(id, {
      pullRequests: toCount(latestPullRequests.totalCount, pullRequests),
      issues: toCount(latestIssues.totalCount, issues),
    });
  }

  async function query<T>(text: string, variables: Variables): Promise<T> {
    const data = (await requests.graphql(text, variables)) as T & { readonly rateLimit?: RateLimitNode | null };
    const { graphql } = requests.budgets;
    const cost = data.rateLimit?.cost;
    if (graphql && typeof cost === 'number') {
      requests.budgets.graphql = { ...graphql, cost: (graphql.cost ?? 0) + Math.max(Math.round(cost), 0) };
    }
    return data;
  }

  const involved = createInvolvedReader(query, { batches, reach });

  /** @returns `undefined` when GitHub could not search, and for Apps, which are in no team. */
  async function teamRequests(): Promise<ReadonlySet<string> | undefined> {
    if (!reach.isUser) return undefined;
    return involved.findReviewRequests().catch((error: unknown) => {
      if (error instanceof ForgeError && error.kind !== 'rate_limited') return undefined;
      throw error;
    });
  }

  /** Creates a function that reads pages of one repository. After a timeout of GitHub it reads small pages. */
  function createPager() {
    let pageSize = PAGE_SIZE;
    return async function ask<T>(text: string, variables: Variables): Promise<T> {
      try {
        const { pageSize: wanted = PAGE_SIZE, ...others } = variables as Variables & { readonly pageSize?: number };
        const pages = { issuePageSize: ISSUE_PAGE_SIZE, pageSize: Math.min(wanted, pageSize) };
        return await query<T>(text, { ...pages, ...others });
      } catch (error) {
        if (!isTimeout(error) || pageSize === SMALL_PAGE_SIZE) throw error;
        pageSize = SMALL_PAGE_SIZE;
        return ask(text, variables);
      }
    };
  }

  type Pager = ReturnType<typeof createPager>;

  async function readBatch(repositories: readonly ForgeRepository[], ask: Pager | typeof query): Promise<Entry[]> {
    const ids = repositories.map(({ id }) => id);
    const variables = { ids, ...toPageSizes(ids.map((id) => sizes.get(id) ?? UNKNOWN_SIZE)) };
    const { nodes } = await ask<{ nodes: readonly Entry['node'][] }>(READ_REPOSITORIES, variables);
    return ids.map((id, index) => ({ id, node: nodes[index] ?? null }));
  }

  async function readWhole(node: WholeRepositoryNode, ask: Pager = createPager()): Promise<RepositorySnapshot> {
    const { id } = node;
    const pulls = await fetchRemainingPages(node.pullRequests, MAX_PULL_REQUESTS, async (pullRequestsAfter) => {
      const more = await ask<{ node: Pick<WholeRepositoryNode, 'pullRequests'> }>(MORE_PULL_REQUESTS, {
        id,
        pullRequestsAfter,
      });
      return more.node.pullRequests;
    });
    const issues = await fetchRemainingPages(node.issues, MAX_ISSUES, async (issuesAfter) => {
      const more = await ask<{ node: Pick<WholeRepositoryNode, 'issues'> }>(MORE_ISSUES, { id, issuesAfter });
      return more.node.issues;
    });
    const asked = pulls.nodes.some(asksTeam);
    const teams = asked ? await teamRequests() : undefined;
    const rows = await mapValid(pulls.nodes, (one) => toForgePullRequest(one, node, asksTeam(one) ? teams : undefined));
    const isWritable = reach.canWrite(node);
    const issueRows = await mapValid(issues.nodes.slice(0, MAX_ISSUES), (one) => toForgeIssue(one, node));
    return {
      repository: toRepository(node, reach),
      pullRequests: uniqueByNumber(rows.mapped).map((row) => (isWritable ? row : { ...row, readOnly: true })),
      issues: uniqueByNumber(issueRows.mapped),
      incomplete: pulls.missing + rows.odd,
    };
  }

  /** Reads a repository of a batch. @returns `undefined` if it is deleted or hidden, its id if it could not be read. */
  async function readEntry({ id, node }: Entry, pager?: Pager): Promise<RepositorySnapshot | string | undefined> {
    // Repositories behind single sign-on come back when the credential is authorized.
    if (node instanceof FieldError) return node.kind === 'unknown' || requests.hidden ? id : undefined;
    try {
      if (node === null || !belongsOnBoard(node, reach)) return undefined;
      noteSize(node);
      return await readWhole(node, pager);
    } catch (error) {
      if (isTimeout(error) || isInvalidResponse(error)) return id;
      throw error;
    }
  }

  return {
    async discover() {
      requests.budgets.graphql = withoutCost(requests.budgets.graphql);
      requests.hidden = undefined;
      const nodes = await reach.discover(query);
      return mapRepositories(nodes, (node) => {
        if (!belongsOnBoard(node, reach)) return [];
        noteSize(node);
        return [toRepository(node, reach)];
      });
    },
    async read(repositories) {
      const results: (RepositorySnapshot | string | undefined)[][] = [];
      const failed: ForgeRepository[] = [];
      const filled = repositories.filter((one) => !isEmpty(one));
      for (const group of groupBySize(filled, ({ id }) => sizes.get(id) ?? UNKNOWN_SIZE)) {
        const done = await batches.read(group, async (batch) => {
          const pager = batch.length === 1 ? createPager() : undefined;
          const entries = await readBatch(batch, pager ?? query);
          const read: (RepositorySnapshot | string | undefined)[] = [];
          for (const entry of entries) read.push(await readEntry(entry, pager));
          return read;
        });
        results.push(...done.results);
        failed.push(...done.failed);
      }
      const empty = repositories.filter(isEmpty).map((repository) => ({ repository, pullRequests: [], issues: [] }));
      const all = [...results.flat(), ...empty];
      const place = new Map(repositories.map(({ id }, index) => [id, index]));
      const placeOf = ({ repository }: RepositorySnapshot): number => place.get(repository.id) ?? 0;
      const unread = [...failed.map(({ id }) => id), ...all.filter((one) => typeof one === 'string')];
      return truncateSnapshot(
        all.filter((one) => typeof one === 'object').sort((one, other) => placeOf(one) - placeOf(other)),
        unread,
      );
    },
    findOutdated: createOutdatedFinder(query, createBatchReader()),
    readHistory: createHistoryReader(query, createBatchReader()),
    ...(reach.isUser && {
      readInvolved: (...args: Parameters<typeof involved.readInvolved>) => involved.readInvolved(...args),
    }),
    async readRepository(fullName) {
      const { owner, name } = toOwnerAndName(fullName);
      const ask = createPager();
      const { repository } = await ask<{ repository: WholeRepositoryNode | null }>(READ_REPOSITORY, { owner, name });
      // Its rows stay until the credential is authorized for single sign-on again, as in `readEntry`.
      if (repository === null && requests.hidden) throw new ForgeError('unauthorized');
      return repository && belongsOnBoard(repository, reach) ? readWhole(repository, ask) : undefined;
    },
  };
}

/** The most pull requests in a repository of each group. Those of the last group have more. */
const GROUP_LIMITS = [3, 12, Infinity];

/** Groups repositories that cost about the same, as the largest one of a query sets its page size. */
function groupBySize(repositories: readonly ForgeRepository[], sizeOf: (one: ForgeRepository) => Size) {
  const groupOf = (one: ForgeRepository): number =>
    GROUP_LIMITS.findIndex((limit) => sizeOf(one).pullRequests <= limit);
  const groups = GROUP_LIMITS.map((_limit, index) => repositories.filter((one) => groupOf(one) === index));
  return groups.filter((group) => group.length > 0);
}

/**
 * Returns the smallest page sizes that read repositories of these sizes whole. GitHub charges by the page sizes and not
 * by the items that exist.
 *
 * @see https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
 */
function toPageSizes(sizes: readonly Size[]): { readonly pageSize: number; readonly issuePageSize: number } {
  const most = (counts: readonly number[], limit: number): number => Math.min(Math.max(1, ...counts), limit);
  return {
    pageSize: most(
      sizes.map(({ pullRequests }) => pullRequests),
      PAGE_SIZE,
    ),
    issuePageSize: most(
      sizes.map(({ issues }) => issues),
      ISSUE_PAGE_SIZE,
    ),
  };
}

function withoutCost(budget: GithubRequests['budgets']['graphql']): typeof budget {
  if (budget === undefined) return undefined;
  const { limit, remaining, resetsAt } = budget;
  return { limit, remaining, resetsAt };
}
