import { mapWithConcurrency } from '@trellis/core/concurrency';
import { LRUCache } from 'lru-cache';
import { ForgeError, undefinedIfNotFound } from '../forge-error.js';
import type {
  CiStatus,
  Forge,
  ForgePullRequest,
  ForgeRepository,
  RepositorySnapshot,
  InvolvedOptions,
  InvolvedSnapshot,
  Involvement,
} from '../forge.js';
import {
  isBotName,
  MAX_HISTORY,
  type PullRequestHistory,
  type ReadHistory,
  readHistoriesInTurn,
  type ReviewEvent,
} from '../history.js';
import type { RestClient } from '../http/requests.js';
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
  type InvolvedSearch,
  readInvolvedPullRequests,
  isInvalidResponse,
} from '../read-repositories.js';
import { readCombinedCi, readNumberedPages } from './details.js';
import {
  belongsOnBoard,
  isDraft,
  type IssueNode,
  type PullRequestNode,
  type RepositoryNode,
  type ReviewNode,
  type SearchResultNode,
  summarizeReviews,
  toForgePullRequest,
  toRepository,
  isDraftTitle,
  type TimelineNode,
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
      return await readCombinedCi(rest, { path: toRepositoryPath(repo), sha: head.sha });
    } catch (error) {
      // Other errors affect the whole forge, not only this pull request.
      if (error instanceof ForgeError && /^(conflict|not_found|unknown)$/.test(error.kind)) return undefined;
      throw error;
    }
  }

  async function readFacts(repo: string, node: PullRequestNode): Promise<ForgePullRequest> {
    assertNumber(node);
    const [ci, review] = await Promise.all([readCi(repo, node), readReview(repo, node)]);
    return toForgePullRequest(node, { repo, ci, review });
  }

  /**
   * Reads a repository.
   *
   * @returns `undefined` for a deleted one. Forgejo responds with 404 for disabled issues or disabled pull requests
   * too, so that only a repository without both counts as deleted.
   * @throws ForgeError As {@link assertServed}.
   */
  async function readWhole(repository: ForgeRepository): Promise<RepositorySnapshot | undefined> {
    const { fullName } = repository;
    const path = toRepositoryPath(fullName);
    const pulls = `${path}/pulls?state=open&limit=50`;
    const nodes = await rest.list<PullRequestNode>(pulls, MAX_PULL_REQUESTS + 1).catch(undefinedIfNotFound);
    const issues = await rest
      .list<IssueNode>(`${path}/issues?state=open&type=issues&limit=50`, MAX_ISSUES)
      .catch(undefinedIfNotFound);
    if (nodes === undefined && issues === undefined) return assertServed(rest);
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
      if (node === undefined) return assertServed(rest);
      if (!belongsOnBoard(node)) return undefined;
      const path = `${toRepositoryPath(node.full_name)}/issues?state=open&limit=50`;
      const open = await rest.list<IssueNode>(path, MAX_SEARCHED).catch(undefinedIfNotFound);
      return readWhole(toRepository(node, open ?? []));
    },
  };
}

/**
 * Asks for a list that every account has, after 404 for a repository: proxies respond with 404 to every request while
 * the server behind them restarts.
 *
 * @throws ForgeError `unreachable` if that is 404 too, else as the request.
 */
async function assertServed(rest: RestClient): Promise<undefined> {
  await rest.get('/user/repos?limit=1').catch((error: unknown) => {
    if (!(error instanceof ForgeError) || error.kind !== 'not_found') throw error;
    throw new ForgeError('unreachable', { status: error.status, cause: error.cause });
  });
}

/** Returns the number, which is a part of the paths of further requests. @throws ForgeError `unknown` for anything else. */
function assertNumber({ number }: Pick<PullRequestNode, 'number'>): number {
  if (Number.isSafeInteger(number)) return number;
  throw new ForgeError('unknown', { cause: new Error('A pull request has no number.') });
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

/** The parameters of the search. The server combines several with "and", so each needs a request. */
const PARAMETERS: Readonly<Record<Involvement, string>> = {
  author: 'created',
  review_requested: 'review_requested',
  assigned: 'assigned',
  mentioned: 'mentioned',
};

/** The most results of one search that are used. */
const MAX_FOUND = 500;

type Found = SearchResultNode & { readonly repository: NonNullable<SearchResultNode['repository']> };

interface InvolvedReaderOptions {
  readonly rest: RestClient;
  /** The URL of the forge's pages. */
  readonly webUrl: string;
  readonly readFacts: (repo: string, node: PullRequestNode) => Promise<ForgePullRequest>;
}

/** Finds the pull requests of the user, and reads those outside of the listed repositories. @see Forge.readInvolved */
async function readInvolvedAtForgejo(
  { rest, webUrl, readFacts }: InvolvedReaderOptions,
  listed: ReadonlySet<string>,
  options?: InvolvedOptions,
): Promise<InvolvedSnapshot> {
  async function search(involvement: Involvement): Promise<InvolvedSearch<Found>> {
    const path = `/repos/issues/search?type=pulls&state=open&${PARAMETERS[involvement]}=true&limit=50`;
    const nodes = await rest.list<SearchResultNode | null>(path, MAX_FOUND + 1);
    return { found: nodes.filter(isFound).slice(0, MAX_FOUND), truncated: nodes.length > MAX_FOUND };
  }

  async function readOne({ number, repository }: Found): Promise<ForgePullRequest | 'unread' | undefined> {
    const path = `${toRepositoryPath(repository.full_name)}/pulls/${number}`;
    try {
      const node = (await rest.get(path).catch(undefinedIfNotFound)) as PullRequestNode | undefined;
      if (node === undefined) await assertServed(rest);
      if (node?.state !== 'open' || node.base.repo?.archived === true) return undefined;
      const row = await readFacts(repository.full_name, node);
      return node.base.repo?.permissions?.push === true ? row : { ...row, readOnly: true };
    } catch (error) {
      if (isInvalidResponse(error)) return 'unread';
      throw error;
    }
  }

  return readInvolvedPullRequests(
    {
      search,
      keyOf: ({ number, repository }) => `${repository.id} ${number}`,
      repositoryOf: ({ repository: { id, full_name: fullName } }) => ({
        id: String(id),
        fullName,
        url: `${webUrl}/${fullName}`,
      }),
      read: (found) => mapWithConcurrency(found, readOne),
    },
    listed,
    options,
  );
}

const isFound = (node: SearchResultNode | null): node is Found =>
  node?.repository != null && Number.isSafeInteger(node.number);

/** A page. Each pull request costs two more requests, and a forge of this kind has no API quota. */
const PAGE_SIZE = 50;

/** The most reviews that are read of a pull request. */
const MAX_EVENTS = 200;

function createHistoryReader(rest: RestClient): ReadHistory {
  async function listChanged(path: string, since: number): Promise<PullRequestNode[]> {
    const found: PullRequestNode[] = [];
    for (let page = 1; found.length < MAX_HISTORY; page += 1) {
      const nodes = (await rest.get(
        `${path}/pulls?state=all&sort=recentupdate&limit=${PAGE_SIZE}&page=${page}`,
      )) as readonly PullRequestNode[];
      const changed = nodes.filter(({ updated_at }) => Date.parse(updated_at) > since);
      found.push(...changed);
      // The forge may have a smaller limit for pages.
      if (changed.length < nodes.length || nodes.length === 0) break;
    }
    return found.slice(0, MAX_HISTORY);
  }

  async function readOne(path: string, node: PullRequestNode): Promise<PullRequestHistory> {
    const number = assertNumber(node);
    const reviews = await rest.list<ReviewNode>(`${path}/pulls/${number}/reviews?limit=50`, MAX_EVENTS);
    // The server counts the comments on lines for its pages of the timeline, but leaves them out.
    const omitted = reviews.reduce((count, { comments_count = 0 }) => count + comments_count, 0);
    const pages = await readNumberedPages<readonly TimelineNode[] | null>(
      rest,
      `${path}/issues/${number}/timeline`,
      (page) => (page ?? []).length + omitted,
    ).catch(undefinedIfNotFound);
    const timeline = (pages ?? []).flatMap((page) => page ?? []);
    return toHistory(node, [...reviews.flatMap(toReview), ...timeline.flatMap(toEvent)]);
  }

  return readHistoriesInTurn(async ({ fullName, since }) => {
    const path = toRepositoryPath(fullName);
    const nodes = await listChanged(path, since).catch(undefinedIfNotFound);
    if (nodes === undefined) await assertServed(rest);
    const { mapped } = await mapValid(nodes ?? [], (node) => readOne(path, node));
    return mapped;
  });
}

function toHistory(node: PullRequestNode, events: readonly ReviewEvent[]): PullRequestHistory {
  const { number, title, html_url: url, user, created_at, updated_at, merged_at, closed_at, state } = node;
  const closedAt = merged_at ?? closed_at ?? (state === 'closed' ? updated_at : undefined);
  const author = user?.login ?? 'ghost';
  return {
    ...{ number, title, url, author },
    authorIsBot: isBotName(author),
    isDraft: isDraft(node),
    createdAt: created_at,
    updatedAt: updated_at,
    ...(typeof merged_at === 'string' && { mergedAt: merged_at }),
    ...(closedAt !== undefined && { closedAt }),
    events,
  };
}

/** Converts a submitted review. Requests for a review are in the same list, without the time of the request. */
function toReview({ user, state, submitted_at }: ReviewNode): ReviewEvent[] {
  if (submitted_at === undefined || !/^(APPROVED|COMMENT|REQUEST_CHANGES)$/.test(state)) return [];
  const login = user?.login ?? 'ghost';
  return [{ kind: state === 'APPROVED' ? 'approved' : 'reviewed', at: submitted_at, login, isBot: isBotName(login) }];
}

/** Drafts are pull requests with a certain title, so a change of the title ends a draft. */
function toEvent(node: TimelineNode): ReviewEvent[] {
  const { type, created_at: at, assignee, removed_assignee } = node;
  if (type === 'review_request' && assignee) {
    const { login } = assignee;
    return [{ kind: removed_assignee === true ? 'request_removed' : 'requested', at, login, isBot: isBotName(login) }];
  }
  if (type !== 'change_title') return [];
  const [before, after] = [isDraftTitle(node.old_title ?? ''), isDraftTitle(node.new_title ?? '')];
  return before === after ? [] : [{ kind: before ? 'ready' : 'drafted', at }];
}
