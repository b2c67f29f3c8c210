import { LRUCache } from 'lru-cache';
import { MAX_ISSUES, MAX_PULL_REQUESTS, MAX_REPOSITORIES, readEach, unique } from '../bounded.js';
import type { CiStatus, ForgeRepository, PullRequestFacts, RepositoryReading } from '../facts.js';
import type { Forge } from '../forge.js';
import { ForgeError, orGone } from '../forge-error.js';
import type { Rest } from '../http/rest.js';
import { mapInChunks } from '../in-chunks.js';
import { pathOf } from '../paths.js';
import { mapListed, mapSound } from '../sound.js';
import { toIssueFacts } from '../rest-issues.js';
import { judgeCombinedStatus } from './ci.js';
import type {
  CombinedStatusNode,
  IssueNode,
  PullRequestNode,
  RepositoryNode,
  ReviewNode,
  SearchedNode,
} from './nodes.js';
import { isDraft, isFollowed, toPullRequestFacts, toRepository, toReview } from './to-facts.js';

/**
 * The most open items that a search for one owner reads. Changes of further items are detected by the next full read.
 */
const MAX_SEARCHED = 2_000;

/** The number of pull requests with cached reviews, which equals the limit of pull requests on a board. */
const MAX_CACHED_REVIEWS = 1_000;

/** The most reviews that are read of one pull request. */
const MAX_REVIEWS_PER_PULL_REQUEST = 200;

type Reader = Pick<Forge, 'discover' | 'read' | 'readRepository'>;
type Review = PullRequestFacts['review'];

export function createForgejoReader(rest: Rest): Reader {
  const reviews = new LRUCache<string, { readonly updatedAt: string; readonly review: NonNullable<Review> }>({
    max: MAX_CACHED_REVIEWS,
  });

  /** Lists all open issues and pull requests of an owner; listing them by repository would cost a request each. */
  async function searchOpen(owner: string): Promise<SearchedNode[]> {
    const path = `/repos/issues/search?state=open&owner=${encodeURIComponent(owner)}&limit=50`;
    return rest.list<SearchedNode>(path, MAX_SEARCHED);
  }

  async function readReview(repo: string, node: PullRequestNode): Promise<Review> {
    if (isDraft(node)) return undefined;
    const key = `${repo}#${node.number}`;
    const known = reviews.get(key);
    if (known?.updatedAt === node.updated_at) return known.review;
    const path = `${pathOf(repo)}/pulls/${node.number}/reviews?limit=50`;
    const found = await rest.list<ReviewNode>(path, MAX_REVIEWS_PER_PULL_REQUEST).catch(orGone);
    const review = found && toReview(found, node);
    if (review) reviews.set(key, { updatedAt: node.updated_at, review });
    return review;
  }

  /** Reads the CI status of a pull request. @returns `undefined` when the forge does not return it. */
  async function readCi(repo: string, { head }: PullRequestNode): Promise<CiStatus | undefined> {
    try {
      const status = await rest.get(`${pathOf(repo)}/commits/${encodeURIComponent(head.sha)}/status`);
      return judgeCombinedStatus((status as CombinedStatusNode).state);
    } catch (error) {
      // Other errors affect the whole forge, not only this pull request.
      if (error instanceof ForgeError && /^(conflict|not_found|unknown)$/.test(error.kind)) return undefined;
      throw error;
    }
  }

  async function readFacts(repo: string, node: PullRequestNode): Promise<PullRequestFacts> {
    const [ci, review] = await Promise.all([readCi(repo, node), readReview(repo, node)]);
    return toPullRequestFacts(node, { repo, ci, review });
  }

  /**
   * Reads a repository.
   *
   * @returns `undefined` for a deleted one. Forgejo responds with 404 for disabled issues or disabled pull requests
   * too, so that only a repository without both counts as deleted.
   */
  async function readWhole(repository: ForgeRepository): Promise<RepositoryReading | undefined> {
    const { fullName } = repository;
    const path = pathOf(fullName);
    const pulls = `${path}/pulls?state=open&limit=50`;
    const nodes = await rest.list<PullRequestNode>(pulls, MAX_PULL_REQUESTS + 1).catch(orGone);
    const issues = await rest
      .list<IssueNode>(`${path}/issues?state=open&type=issues&limit=50`, MAX_ISSUES)
      .catch(orGone);
    if (nodes === undefined && issues === undefined) return undefined;
    const rows = await mapSound(nodes ?? [], (node) => readFacts(fullName, node));
    const issueRows = await mapSound((issues ?? []).slice(0, MAX_ISSUES), (node) => toIssueFacts(node, fullName));
    return {
      repository,
      pullRequests: unique(rows.mapped),
      issues: unique(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  return {
    async discover() {
      const listed = await rest.list<RepositoryNode>('/user/repos?limit=50', MAX_REPOSITORIES);
      const nodes = await mapListed(listed, (node) => (isFollowed(node) ? [node] : []));
      const owners = new Set(nodes.map(({ full_name }) => full_name.split('/')[0] ?? ''));
      const open = (await mapInChunks([...owners], searchOpen)).flat();
      const openOf = groupByRepository(open);
      return nodes.map((node) => toRepository(node, openOf.get(node.full_name) ?? []));
    },
    read: (repositories) => readEach(repositories, readWhole),
    async readRepository(fullName) {
      const node = (await rest.get(pathOf(fullName)).catch(orGone)) as RepositoryNode | undefined;
      if (node === undefined || !isFollowed(node)) return undefined;
      const path = `${pathOf(node.full_name)}/issues?state=open&limit=50`;
      const open = await rest.list<IssueNode>(path, MAX_SEARCHED).catch(orGone);
      return readWhole(toRepository(node, open ?? []));
    },
  };
}

function groupByRepository(nodes: readonly (SearchedNode | null)[]): Map<string, SearchedNode[]> {
  const groups = new Map<string, SearchedNode[]>();
  for (const node of nodes) {
    const name = node?.repository?.full_name;
    if (!node || !name) continue;
    const group = groups.get(name);
    if (group) group.push(node);
    else groups.set(name, [node]);
  }
  return groups;
}
