import type { ForgePullRequest, InvolvedSnapshot, Involvement } from '../forge.js';
import { type ConnectionPage, fetchRemainingPages, FieldError } from '../http/graphql-pages.js';
import { type InvolvedSearch, readInvolvedPullRequests } from '../involved.js';
import { isInvalidResponse, mapWithConcurrency } from '../read-repositories.js';
import type { GraphqlQuery, RepositoryAccess } from './access.js';
import { type BatchReader, isTimeout } from './batches.js';
import type { FoundNode, SinglePullRequestNode } from './nodes.js';
import { asksTeam, toForgePullRequest } from './parse.js';
import { READ_PULL_REQUESTS, SEARCH_INVOLVED, SEARCH_PULL_REQUESTS } from './queries.js';

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
  /** @see Forge.readInvolved */
  readInvolved(listed: ReadonlySet<string>): Promise<InvolvedSnapshot>;
}

export function createInvolvedReader(
  query: GraphqlQuery,
  { batches, reach }: { readonly batches: BatchReader; readonly reach: RepositoryAccess },
): InvolvedReader {
  type Page = ConnectionPage<Partial<FoundNode>> & { readonly issueCount: number };
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

  async function search(involvement: Involvement, page?: Page): Promise<InvolvedSearch<FoundNode>> {
    const first = page ?? (await readPage(involvement, null));
    // Pages are read while there are at most this many results.
    const { nodes } = await fetchRemainingPages(first, MAX_FOUND - 1, (after) => readPage(involvement, after));
    return { found: nodes.filter(isFound), truncated: first.issueCount > MAX_FOUND };
  }

  function searchReviewRequests(page?: Page): Promise<InvolvedSearch<FoundNode>> {
    if (requested === undefined || page !== undefined || performance.now() - requested.at > SEARCHED_MS) {
      requested = { search: search('review_requested', page), at: performance.now() };
    }
    return requested.search;
  }

  async function findReviewRequests(): Promise<ReadonlySet<string>> {
    return new Set((await searchReviewRequests()).found.map(({ id }) => id));
  }

  async function readPullRequests(
    found: readonly FoundNode[],
    requests: ReadonlySet<string>,
  ): Promise<(ForgePullRequest | 'unread' | undefined)[]> {
    const ids = found.map(({ id }) => id);
    const { results, failed } = await batches.read(ids, async (batch) => {
      const { nodes } = await query<Read>(READ_PULL_REQUESTS, { ids: batch });
      const rows = await mapWithConcurrency(nodes, (node) => toRow(node, requests));
      return batch.map((id, index) => [id, rows[index]] as const);
    });
    const rows = new Map(results.flat());
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
    async readInvolved(listed) {
      const pages = await readFirstPages();
      return readInvolvedPullRequests(
        {
          search: (involvement) =>
            involvement === 'review_requested'
              ? searchReviewRequests(pages.review_requested)
              : search(involvement, pages[involvement]),
          keyOf: ({ id }) => id,
          repositoryOf: ({ repository: { id, nameWithOwner: fullName, url } }) => ({ id, fullName, url }),
          read: async (found) => readPullRequests(found, await findReviewRequests()),
        },
        listed,
      );
    },
  };
}

const toSearchText = (involvement: Involvement): string =>
  `is:open is:pr archived:false ${QUALIFIERS[involvement]} sort:updated-desc`;

const isFound = (node: Partial<FoundNode>): node is FoundNode => node.id !== undefined && node.repository !== undefined;
