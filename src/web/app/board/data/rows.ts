import type { components } from '../../../../generated/dashboard/client.js';

type Schemas = components['schemas'];
export type Board = Schemas['Dashboard'];
export type PullRequest = Schemas['PullRequest'];
export type Repository = Board['repos'][number];
export type Issue = Schemas['Issue'];
export type ForgeName = Schemas['ForgeName'];
export type Section = Schemas['Section'];
type CiStatus = Schemas['CiStatus'];

/** A deeply mutable `T`, as request bodies of the client are typed. */
export type Writable<T> = T extends object ? { -readonly [Name in keyof T]: Writable<T[Name]> } : T;

/** Returns the unique, stable key of a pull request or issue. */
export const getRowKey = ({ forge, repo, number }: Pick<PullRequest, 'forge' | 'number' | 'repo'>): string =>
  `${forge} ${repo} ${number}`;

/** Returns the unique key of a repository: two forges may have repositories of the same name. */
export const getRepositoryKey = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string => `${forge} ${repo}`;

/** Returns the display name of the repository of a row. */
export const formatRepository = ({ forge, repo }: Pick<PullRequest, 'forge' | 'repo'>): string =>
  `${repo} (${FORGE_NAMES[forge]})`;

/** Returns the display name of a repository. */
export const formatRepositoryName = ({ forge, fullName }: Repository): string =>
  formatRepository({ forge, repo: fullName });

/** Returns the request body that identifies a pull request. */
export const toTarget = ({ forge, repo, number }: PullRequest) => ({ forge, fullName: repo, number });

/** Returns the request body that identifies a pull request and the commit that the page shows. */
export const toCommit = (row: PullRequest) => ({ ...toTarget(row), ...(row.headSha && { headSha: row.headSha }) });

export const FORGE_NAMES: Readonly<Record<ForgeName, string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo',
  gitlab: 'GitLab',
};

export const SECTION_NAMES: Readonly<Record<Section, string>> = {
  needs_your_review: 'Needs your review',
  returned_to_you: 'Needs your changes',
  ready_to_merge: 'Ready to merge',
  waiting_for_others: 'Waiting for others',
  drafts: 'Drafts',
};

export const CI_NAMES: Readonly<Record<CiStatus, string>> = {
  success: 'Passing',
  failure: 'Failing',
  pending: 'Running',
  none: 'No checks',
};

/** Returns the CI status of a row, with the reason if it is unknown. */
export const toCiState = ({ ci, ciKnown }: PullRequest) =>
  ciKnown === false
    ? { name: 'CI unknown', hint: 'CI unknown: the token can’t read checks' }
    : { name: CI_NAMES[ci], hint: undefined };

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
