import { mapWithConcurrency } from '@trellis/core/concurrency';
import type { ForgePullRequest, InvolvedOptions, InvolvedSnapshot, Involvement, KnownRepository } from '../forge.js';
import { type ConnectionPage, fetchRemainingPages, FieldError } from '../http/graphql-pages.js';
import { type InvolvedSearch, readInvolvedPullRequests, isInvalidResponse } from '../read-repositories.js';
import type { GraphqlQuery, RepositoryAccess } from './access.js';
import type { FoundNode, SinglePullRequestNode, SinglePullRequestStatusNode } from './nodes.js';
import { asksTeam, isCurrent, toForgePullRequest } from './parse.js';
import { READ_PULL_REQUESTS, SEARCH_INVOLVED, SEARCH_PULL_REQUESTS } from './queries.js';
import { type BatchReader, isTimeout } from './requests.js';
import { readStatuses } from './statuses.js';

const QUALIFIERS: Readonly<Record<Involvement, string>> = {
  author: 'author:@me',
  review_requested: 'review-requested:@me',
  assigned: 'assignee:@me',
  mentioned: 'mentions:@me',
};

/** GitHub returns no more results of a search. */
const MAX_FOUND = 1_000;

/** How long the review requests are used again, so that a refresh of many repositories searches for them once. */
const SEARCHED_MS = 20_000;

interface Read {
  readonly nodes: readonly (FieldError | SinglePullRequestNode | null)[];
}

/** Searches for the pull requests of a token's user. The first hundred results of all
 * searches cost one point of the API quota, and each further hundred of a search costs one. */
export interface InvolvedReader {
  /** Finds the ids of the pull requests that wait for a review of the user or of one of the user's teams. */
  findReviewRequests(): Promise<ReadonlySet<string>>;
  /** Reads again only what has changed. @see Forge.readInvolved */
  readInvolved(listed: ReadonlySet<string>, options?: InvolvedOptions): Promise<InvolvedSnapshot>;
}

export function createInvolvedReader(
  query: GraphqlQuery,
  { batches, reach }: { readonly batches: BatchReader; readonly reach: RepositoryAccess },
): InvolvedReader {
  type Page = ConnectionPage<Partial<FoundNode>> & { readonly issueCount: number };
  interface SearchOptions {
    /** The first page, if it was read. */
    readonly page?: Page;
    /** Reads no further page once there are as many results. */
    readonly most?: number;
  }
  let requested: { readonly search: Promise<InvolvedSearch<FoundNode>>; readonly at: number } | undefined;

  const readPage = async (involvement: Involvement, after: string | null): Promise<Page> =>
    (await query<{ readonly search: Page }>(SEARCH_PULL_REQUESTS, { query: toSearchText(involvement), after })).search;

  async function readFirstPages(): Promise<Partial<Record<Involvement, Page>>> {
    const names = Object.keys(QUALIFIERS) as Involvement[];
    const texts: Record<string, string> = Object.fromEntries(names.map((one) => [one, toSearchText(one)]));
    // GitHub may have the time for each search alone.
    return query<Record<Involvement, Page>>(SEARCH_INVOLVED, texts).catch((error: unknown) => {
      if (isTimeout(error)) return {};
      throw error;
    });
  }

  async function search(
    involvement: Involvement,
    { page, most = MAX_FOUND }: SearchOptions = {},
  ): Promise<InvolvedSearch<FoundNode>> {
    const first = page ?? (await readPage(involvement, null));
    // Pages are read while there are at most this many results.
    const { nodes } = await fetchRemainingPages(first, most - 1, (after) => readPage(involvement, after));
    return { found: nodes.filter(isFound), truncated: first.issueCount > most };
  }

  function searchReviewRequests(page?: Page): Promise<InvolvedSearch<FoundNode>> {
    if (requested === undefined || page !== undefined || performance.now() - requested.at > SEARCHED_MS) {
      requested = { search: search('review_requested', { page }), at: performance.now() };
    }
    return requested.search;
  }

  async function findReviewRequests(): Promise<ReadonlySet<string>> {
    return new Set((await searchReviewRequests()).found.map(({ id }) => id));
  }

  /** Finds the rows that are still current, by the id of the pull request. */
  async function findCurrent(
    found: readonly FoundNode[],
    requests: ReadonlySet<string>,
    known: readonly KnownRepository[],
  ): Promise<ReadonlyMap<string, ForgePullRequest>> {
    const rows = new Map<string, ForgePullRequest>();
    const rowsById = new Map(known.map(({ id, pullRequests }) => [id, pullRequests]));
    for (const { id, number, updatedAt, repository } of found) {
      const row = rowsById.get(repository.id)?.find((one) => one.number === number);
      if (row?.updatedAt === updatedAt && row.mergeStatus !== 'unknown' && row.ci !== 'pending') rows.set(id, row);
    }
    const statuses = await readStatuses(query, [...rows.keys()]);
    for (const [id, row] of rows) {
      const node = statuses.get(id);
      if (node === undefined || !isSame(node, row, requests)) rows.delete(id);
    }
    return rows;
  }

  /** Reports whether a row has the current values, including those that depend on the repository and the user. */
  function isSame(
    { id, state, repository, ...node }: SinglePullRequestStatusNode,
    row: ForgePullRequest,
    requests: ReadonlySet<string>,
  ): boolean {
    const isOfTeam = row.reviewRequestedFromMyTeam;
    return (
      state === 'OPEN' &&
      row.repo === repository.nameWithOwner &&
      row.autoMergeAllowed === repository.autoMergeAllowed &&
      (row.readOnly === true) === !reach.canWrite(repository) &&
      (isOfTeam === undefined || isOfTeam === (!row.draft && requests.has(id))) &&
      isCurrent(node, row)
    );
  }

  async function readPullRequests(
    found: readonly FoundNode[],
    requests: ReadonlySet<string>,
    known: readonly KnownRepository[],
  ): Promise<(ForgePullRequest | 'unread' | undefined)[]> {
    const current = await findCurrent(found, requests, known);
    const ids = found.map(({ id }) => id);
    const changed = ids.filter((id) => !current.has(id));
    const { results, failed } = await batches.read(changed, async (batch) => {
      const { nodes } = await query<Read>(READ_PULL_REQUESTS, { ids: batch });
      const rows = await mapWithConcurrency(nodes, (node) => toRow(node, requests));
      return batch.map((id, index) => [id, rows[index]] as const);
    });
    const rows = new Map<string, ForgePullRequest | 'unread' | undefined>([...current, ...results.flat()]);
    for (const id of failed) rows.set(id, 'unread');
    return ids.map((id) => rows.get(id));
  }

  async function toRow(
    node: FieldError | SinglePullRequestNode | null,
    requests: ReadonlySet<string>,
  ): Promise<ForgePullRequest | 'unread' | undefined> {
    if (node instanceof FieldError) return node.kind === 'unknown' ? 'unread' : undefined;
    // Null if it was deleted, or hidden from the user, since the search.
    if (node?.state !== 'OPEN') return undefined;
    try {
      const row = toForgePullRequest(node, node.repository, asksTeam(node) ? requests : undefined);
      return reach.canWrite(node.repository) ? row : { ...row, readOnly: true };
    } catch (error) {
      if (isInvalidResponse(error)) return 'unread';
      throw error;
    }
  }

  return {
    findReviewRequests,
    async readInvolved(listed, { known = [], most } = {}) {
      const pages = await readFirstPages();
      return readInvolvedPullRequests(
        {
          search: (involvement) =>
            involvement === 'review_requested'
              ? searchReviewRequests(pages.review_requested)
              : search(involvement, { page: pages[involvement], most }),
          keyOf: ({ id }) => id,
          repositoryOf: ({ repository: { id, nameWithOwner: fullName, url } }) => ({ id, fullName, url }),
          read: async (found) => readPullRequests(found, await findReviewRequests(), known),
        },
        listed,
        { most },
      );
    },
  };
}

const toSearchText = (involvement: Involvement): string =>
  `is:open is:pr archived:false ${QUALIFIERS[involvement]} sort:updated-desc`;

const isFound = (node: Partial<FoundNode>): node is FoundNode => node.id !== undefined && node.repository !== undefined;
