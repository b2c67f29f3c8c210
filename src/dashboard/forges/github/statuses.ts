/** Compares pull requests with their rows, by the values that change without a new revision of the repository. */
import type { Forge, ForgePullRequest } from '../forge.js';
import { type ConnectionPage, FieldError, fetchRemainingPages } from '../http/graphql-pages.js';
import { isInvalidResponse, MAX_PULL_REQUESTS } from '../read-repositories.js';
import type { GraphqlQuery } from './access.js';
import type { PullRequestStatusNode, SinglePullRequestStatusNode } from './nodes.js';
import { isCurrent } from './parse.js';
import { READ_PULL_REQUEST_STATUSES, READ_STATUSES } from './queries.js';
import { type BatchReader, isTimeout } from './requests.js';

interface RepositoryStatuses {
  readonly autoMergeAllowed: boolean;
  readonly statuses: ConnectionPage<PullRequestStatusNode>;
}

interface Read<Node> {
  readonly nodes: readonly (FieldError | Node | null)[];
}

/** A repository that can't be compared counts as outdated: reading it shows why. */
export function createOutdatedFinder(query: GraphqlQuery, batches: BatchReader): NonNullable<Forge['findOutdated']> {
  const read = async (ids: readonly string[], after: string | null = null) =>
    (await query<Read<RepositoryStatuses>>(READ_STATUSES, { ids, after })).nodes;

  async function isUpToDate(
    id: string,
    { statuses, autoMergeAllowed }: RepositoryStatuses,
    rows: readonly ForgePullRequest[],
  ): Promise<boolean> {
    const { nodes } = await fetchRemainingPages(statuses, MAX_PULL_REQUESTS, async (after) => {
      const [more] = await read([id], after);
      return more && !(more instanceof FieldError) ? more.statuses : LAST_PAGE;
    });
    const rowsByNumber = new Map(rows.map((row) => [row.number, row]));
    const isSame = (node: PullRequestStatusNode): boolean => {
      const row = rowsByNumber.get(node.number);
      return row?.autoMergeAllowed === autoMergeAllowed && isCurrent(node, row);
    };
    return nodes.length === rows.length && nodes.every(isSame);
  }

  return async (known) => {
    const outdated = new Set(known.map(({ id }) => id));
    await batches.read(known, (batch) =>
      ignoreInvalid(async () => {
        const nodes = await read(batch.map(({ id }) => id));
        for (const [index, { id, pullRequests }] of batch.entries()) {
          const node = nodes[index];
          if (!node || node instanceof FieldError) continue;
          if (await isUpToDate(id, node, pullRequests)) outdated.delete(id);
        }
      }),
    );
    return outdated;
  };
}

const LAST_PAGE = { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

/** GitHub accepts as many ids. */
const IDS_PER_QUERY = 100;

/** Reads the status of pull requests by id. Omits those that could not be read. */
export async function readStatuses(
  query: GraphqlQuery,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SinglePullRequestStatusNode>> {
  const found = new Map<string, SinglePullRequestStatusNode>();
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const batch = ids.slice(start, start + IDS_PER_QUERY);
    const { nodes } = await query<Read<SinglePullRequestStatusNode>>(READ_PULL_REQUEST_STATUSES, { ids: batch }).catch(
      (error: unknown) => {
        if (isInvalidResponse(error) || isTimeout(error)) return { nodes: [] };
        throw error;
      },
    );
    for (const [index, id] of batch.entries()) {
      const node = nodes[index];
      if (node && !(node instanceof FieldError)) found.set(id, node);
    }
  }
  return found;
}

/** Servers that are too old for a field reject the query. */
async function ignoreInvalid(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isInvalidResponse(error)) throw error;
  }
}
