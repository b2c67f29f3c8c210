import { getRowKey } from './rows.js';
import type { Board, Issue, PullRequest } from './rows.js';

/** The state of a pull request that its row shows. */
const toState = ({ updatedAt, ci, ciKnown, mergeStatus, title, section, draft }: PullRequest): string =>
  [updatedAt, ci, ciKnown, mergeStatus, title, section, draft].join('\n');

const toIssueState = ({ updatedAt, title }: Issue): string => `${updatedAt}\n${title}`;

/** Counts the pull requests that were added, removed or changed. */
export const countPullRequests = (before: Board | undefined, after: Board | undefined): number =>
  count(before?.pullRequests, after?.pullRequests, toState);

export const countIssues = (before: Board | undefined, after: Board | undefined): number =>
  count(before?.issues, after?.issues, toIssueState);

function count<Row extends Issue | PullRequest>(
  before: readonly Row[] = [],
  after: readonly Row[] = [],
  stateOf: (row: Row) => string,
): number {
  if (before === after) return 0;
  const known = new Map(before.map((row) => [getRowKey(row), stateOf(row)]));
  let changes = 0;
  for (const row of after) {
    if (known.get(getRowKey(row)) !== stateOf(row)) changes += 1;
    known.delete(getRowKey(row));
  }
  return changes + known.size;
}

/**
 * Returns the newer board with unchanged rows replaced by the objects of the older one, so that they are not redrawn.
 */
export function reuseRows(before: Board | undefined, after: Board): Board {
  if (before === undefined) return after;
  const known = new Map(before.pullRequests.map((row) => [getRowKey(row), row]));
  const pullRequests = after.pullRequests.map((row) => {
    const same = known.get(getRowKey(row));
    return same !== undefined && JSON.stringify(same) === JSON.stringify(row) ? same : row;
  });
  return { ...after, pullRequests };
}
