import type { components } from '../../../../generated/dashboard/client.js';
import type { Filter } from '../filter/filter.js';

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

export interface Group {
  /** Empty when the list is not grouped. */
  readonly name: string;
  readonly rows: readonly PullRequest[];
  /** The number of rows of the group on the whole board, while only its first rows are there. */
  readonly total?: number;
}

/** Groups rows and keeps their order within each group. Sections are sorted by urgency. */
export function toGroups(rows: readonly PullRequest[], by: Filter['group']): readonly Group[] {
  if (by === 'none') return [{ name: '', rows }];
  const groups = new Map<string, PullRequest[]>(by === 'section' ? IN_ORDER.map((name) => [name, []]) : []);
  for (const row of rows) {
    const name = NAMES[by](row);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [row]);
    else members.push(row);
  }
  return [...groups].filter(([, members]) => members.length > 0).map(([name, members]) => ({ name, rows: members }));
}

const IN_ORDER = Object.values(SECTION_NAMES);

const sectionName = ({ section }: PullRequest): string =>
  (SECTION_NAMES as Record<string, string>)[section satisfies Section] ?? section;

const NAMES: Readonly<Record<Exclude<Filter['group'], 'none'>, (one: PullRequest) => string>> = {
  section: sectionName,
  repository: formatRepository,
  forge: ({ forge }) => FORGE_NAMES[forge],
};

/** Rows per block: few enough to draw between two frames, enough to keep the number of blocks of a long list small. */
export const BLOCK_SIZE = 20;

/** At least the number of rows that fit on any screen. */
const NEAR = 2 * BLOCK_SIZE;

export interface Block {
  readonly rows: readonly PullRequest[];
  /**
   * Whether the block is below the first screen. Only the height of far blocks may be estimated: a wrong estimate would
   * move visible rows.
   */
  readonly isFar: boolean;
}

interface DrawnGroup extends Group {
  /** The rows that are drawn so far. */
  readonly blocks: readonly Block[];
}

/** Splits the first `drawn` rows of a list into blocks. Groups without drawn rows are omitted. */
export function toBlocks(groups: readonly Group[], drawn: number): readonly DrawnGroup[] {
  let left = drawn;
  return groups.flatMap((group) => {
    const count = Math.min(Math.max(left, 0), group.rows.length);
    const before = drawn - left;
    left -= group.rows.length;
    const starts = Array.from({ length: Math.ceil(count / BLOCK_SIZE) }, (_none, index) => index * BLOCK_SIZE);
    const blocks = starts.map((start) => ({
      rows: group.rows.slice(start, Math.min(start + BLOCK_SIZE, count)),
      isFar: before + start >= NEAR,
    }));
    return blocks.length === 0 ? [] : [{ ...group, blocks }];
  });
}
