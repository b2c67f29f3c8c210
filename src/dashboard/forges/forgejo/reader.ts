import { mapWithConcurrency } from '@trellis/core/concurrency';
import { LRUCache } from 'lru-cache';
import { ForgeError, undefinedIfNotFound } from '../forge-error.js';
import type { CiStatus, Forge, ForgePullRequest, ForgeRepository, RepositorySnapshot } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import {
  mapRepositories,
  mapValid,
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  readRepositories,
  toForgeIssue,
  toRepositoryPath,
  uniqueByNumber,
} from '../read-repositories.js';
import { ciFromCombinedStatus } from './checks.js';
import { createHistoryReader } from './history.js';
import { readInvolvedAtForgejo } from './involved.js';
import {
  belongsOnBoard,
  type CombinedStatusNode,
  isDraft,
  type IssueNode,
  type PullRequestNode,
  type RepositoryNode,
  type ReviewNode,
  type SearchResultNode,
  summarizeReviews,
  toForgePullRequest,
  toRepository,
} from './parse.js';

/**
 * The most open items that a search for one owner reads. Changes of further items are detected by the next full read.
 */
const MAX_SEARCHED = 2_000;

/** The most reviews that are read of one pull request. */
const MAX_REVIEWS_PER_PULL_REQUEST = 200;

type Reader = Pick<Forge, 'discover' | 'read' | 'readHistory' | 'readInvolved' | 'readRepository'>;
type Review = ForgePullRequest['review'];

export function createForgejoReader(rest: RestClient, webUrl: string): Reader {
  const reviews = new LRUCache<string, { readonly updatedAt: string; readonly review: NonNullable<Review> }>({
    max: MAX_PULL_REQUESTS,
  });

  /** Lists all open issues and pull requests of an owner; listing them by repository would cost a request each. */
  async function searchOpen(owner: string): Promise<SearchResultNode[]> {
    const path = `/repos/issues/search?state=open&owner=${encodeURIComponent(owner)}&limit=50`;
    return rest.list<SearchResultNode>(path, MAX_SEARCHED);
  }

  async function readReview(repo: string, node: PullRequestNode): Promise<Review> {
    if (isDraft(node)) return undefined;
    const key = `${repo}#${node.number}`;
    const known = reviews.get(key);
    if (known?.updatedAt === node.updated_at) return known.review;
    const path = `${toRepositoryPath(repo)}/pulls/${node.number}/reviews?limit=50`;
    const found = await rest.list<ReviewNode>(path, MAX_REVIEWS_PER_PULL_REQUEST).catch(undefinedIfNotFound);
    const review = found && summarizeReviews(found, node);
    if (review) reviews.set(key, { updatedAt: node.updated_at, review });
    return review;
  }

  /** Reads the CI status of a pull request. @returns `undefined` when the forge does not return it. */
  async function readCi(repo: string, { head }: PullRequestNode): Promise<CiStatus | undefined> {
    try {
      const status = await rest.get(`${toRepositoryPath(repo)}/commits/${encodeURIComponent(head.sha)}/status`);
      return ciFromCombinedStatus((status as CombinedStatusNode).state);
    } catch (error) {
      // Other errors affect the whole forge, not only this pull request.
      if (error instanceof ForgeError && /^(conflict|not_found|unknown)$/.test(error.kind)) return undefined;
      throw error;
    }
  }

  async function readFacts(repo: string, node: PullRequestNode): Promise<ForgePullRequest> {
    const [ci, review] = await Promise.all([readCi(repo, node), readReview(repo, node)]);
    return toForgePullRequest(node, { repo, ci, review });
  }

  /**
   * Reads a repository.
   *
   * @returns `undefined` for a deleted one. Forgejo responds with 404 for disabled issues or disabled pull requests
   * too, so that only a repository without both counts as deleted.
   */
  async function readWhole(repository: ForgeRepository): Promise<RepositorySnapshot | undefined> {
    const { fullName } = repository;
    const path = toRepositoryPath(fullName);
    const pulls = `${path}/pulls?state=open&limit=50`;
    const nodes = await rest.list<PullRequestNode>(pulls, MAX_PULL_REQUESTS + 1).catch(undefinedIfNotFound);
    const issues = await rest
      .list<IssueNode>(`${path}/issues?state=open&type=issues&limit=50`, MAX_ISSUES)
      .catch(undefinedIfNotFound);
    if (nodes === undefined && issues === undefined) return undefined;
    const rows = await mapValid(nodes ?? [], (node) => readFacts(fullName, node));
    const issueRows = await mapValid((issues ?? []).slice(0, MAX_ISSUES), (node) => toForgeIssue(node, fullName));
    return {
      repository,
      pullRequests: uniqueByNumber(rows.mapped),
      issues: uniqueByNumber(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  return {
    async discover() {
      const listed = await rest.list<RepositoryNode>('/user/repos?limit=50', MAX_REPOSITORIES);
      const nodes = await mapRepositories(listed, (node) => (belongsOnBoard(node) ? [node] : []));
      const owners = new Set(nodes.map(({ full_name }) => full_name.split('/')[0] ?? ''));
      const open = (await mapWithConcurrency([...owners], searchOpen)).flat();
      const openOf = groupByRepository(open);
      return nodes.map((node) => toRepository(node, openOf.get(node.full_name) ?? []));
    },
    read: (repositories) => readRepositories(repositories, readWhole),
    readHistory: createHistoryReader(rest),
    readInvolved: (...args) => readInvolvedAtForgejo({ rest, webUrl, readFacts }, ...args),
    async readRepository(fullName) {
      const node = (await rest.get(toRepositoryPath(fullName)).catch(undefinedIfNotFound)) as
        RepositoryNode | undefined;
      if (node === undefined || !belongsOnBoard(node)) return undefined;
      const path = `${toRepositoryPath(node.full_name)}/issues?state=open&limit=50`;
      const open = await rest.list<IssueNode>(path, MAX_SEARCHED).catch(undefinedIfNotFound);
      return readWhole(toRepository(node, open ?? []));
    },
  };
}

function groupByRepository(nodes: readonly (SearchResultNode | null)[]): Map<string, SearchResultNode[]> {
  const groups = new Map<string, SearchResultNode[]>();
  for (const node of nodes) {
    const name = node?.repository?.full_name;
    if (!node || !name) continue;
    const group = groups.get(name);
    if (group) group.push(node);
    else groups.set(name, [node]);
  }
  return groups;
}
