import { parseBoardSearch, suggestSearches } from '../../../../board-search/board-search.js';
import { serverNow } from '../../ui/times.js';
import {
  FORGE_NAMES,
  formatRepository,
  getRepositoryKey,
  type Issue,
  type PullRequest,
  type Section,
  SECTION_NAMES,
} from '../data/rows.js';

/** The filter, order and grouping of the list. An empty string means no restriction. */
export interface Filter {
  /** The name of a saved view, which the other members restrict further. */
  readonly view: string;
  readonly section: Section | '';
  readonly pill: QuickFilter;
  /** In the form of {@link getRepositoryKey}. */
  readonly repo: string;
  readonly author: string;
  readonly label: string;
  readonly ci: string;
  /** Maximum age in hours. */
  readonly created: string;
  readonly updated: string;
  /** A search. @see parseBoardSearch */
  readonly text: string;
  readonly sort: 'created' | 'repository' | 'updated';
  readonly group: 'forge' | 'none' | 'repository' | 'section';
  readonly drafts: boolean;
  readonly snoozed: boolean;
  /** Rows per page of an ungrouped list; empty for all. */
  readonly size: string;
}

export type QuickFilter = keyof typeof QUICK_FILTERS;

interface PillRule {
  readonly name: string;
  readonly matches: (one: PullRequest) => boolean;
}

/** The quick filters, of which exactly one is active. */
export const QUICK_FILTERS = {
  all: { name: 'All', matches: () => true },
  github: { name: 'GitHub', matches: ({ forge }) => forge === 'github' },
  forgejo: { name: 'Forgejo', matches: ({ forge }) => forge === 'forgejo' },
  gitlab: { name: 'GitLab', matches: ({ forge }) => forge === 'gitlab' },
  failing: { name: 'Failing CI', matches: ({ ci }) => ci === 'failure' },
  bots: { name: 'Bots', matches: ({ kind }) => kind === 'dependency' },
  ready: { name: 'Ready to merge', matches: ({ readyToMerge }) => readyToMerge },
  review: { name: 'Needs review', matches: ({ needsReview }) => needsReview },
  mine: {
    name: 'Review requested',
    matches: (row) => row.reviewRequestedFromMe || row.reviewRequestedFromMyTeam === true,
  },
} as const satisfies Readonly<Record<string, PillRule>>;

export const SORT_NAMES: Readonly<Record<Filter['sort'], string>> = {
  updated: 'last activity',
  created: 'created',
  repository: 'repository',
};

export const SORT_OPTIONS = Object.entries(SORT_NAMES) as [Filter['sort'], string][];

/** The options of the filters by time. */
export const AGE_OPTIONS = [
  ['', 'any time'],
  ['1', 'last hour'],
  ['24', 'last day'],
  ['168', 'last 7 days'],
  ['720', 'last 30 days'],
] as const;

export const GROUP_NAMES: Readonly<Record<Filter['group'], string>> = {
  section: 'whose turn it is',
  repository: 'repository',
  forge: 'code host',
  none: 'nothing',
};

export const PAGE_SIZES = ['10', '25', '50', '100', ''] as const;

export const NO_FILTER: Filter = {
  view: '',
  section: '',
  pill: 'all',
  repo: '',
  author: '',
  label: '',
  ci: '',
  created: '',
  updated: '',
  text: '',
  sort: 'updated',
  group: 'section',
  drafts: false,
  snoozed: false,
  size: '25',
};

/** Returns whether a filter lists the rows as for a new user, apart from drafts. */
export const isPlainList = ({ drafts: _drafts, size: _size, ...filter }: Filter): boolean =>
  Object.entries(filter).every(([name, value]) => value === NO_FILTER[name as keyof Filter]);

/** Returns whether the filter hides any rows. Order, grouping, drafts and snoozed rows do not count. */
export function isFiltering(filter: Filter): boolean {
  return filter.view !== '' || countConditions(filter) > 0;
}

/** Returns a filter without its conditions. The order, the grouping, hidden rows and the page size stay. */
export const withoutConditions = ({ sort, group, drafts, snoozed, size }: Filter): Filter => ({
  ...NO_FILTER,
  ...{ sort, group, drafts, snoozed, size },
});

/** Counts the conditions of a filter. */
function countConditions({ section, pill, repo, author, label, ci, created, updated, text }: Filter): number {
  const conditions = [section, repo, author, label, ci, created, updated, text];
  return Number(pill !== 'all') + conditions.filter((value) => value !== '').length;
}

/** Returns whether a list needs drafts: they are shown, or searched for. */
export const needsDrafts = ({ drafts, text }: Filter): boolean => drafts || parseBoardSearch(text).states.has('draft');

/** Returns the rows that match a filter, in its order. */
export const applyFilter = (rows: readonly PullRequest[], filter: Filter, now?: number): readonly PullRequest[] =>
  ORDERS[filter.sort](rows.filter(createMatcher(filter, now)));

/** Returns the test of a filter for a row, apart from the view. */
export function createMatcher(filter: Filter, now = serverNow()): (row: PullRequest) => boolean {
  const { matches } = parseBoardSearch(filter.text);
  return (one) =>
    (filter.section === '' || one.section === filter.section) &&
    QUICK_FILTERS[filter.pill].matches(one) &&
    (filter.repo === '' || getRepositoryKey(one) === filter.repo) &&
    (filter.author === '' || one.author === filter.author) &&
    (filter.label === '' || one.labels.some(({ name }) => name === filter.label)) &&
    (filter.ci === '' || (one.ciKnown !== false && one.ci === filter.ci)) &&
    isWithinHours(one.createdAt, filter.created, now) &&
    isWithinHours(one.updatedAt, filter.updated, now) &&
    matches(one);
}

/** Returns whether a time is within the last `hours`; an empty string accepts every time. */
export const isWithinHours = (time: string, hours: string, now: number): boolean =>
  hours === '' || Date.parse(time) >= now - Number(hours) * 3_600_000;

type Sorted = Pick<PullRequest, 'createdAt' | 'forge' | 'number' | 'repo' | 'updatedAt'>;
type Order = <Row extends Sorted>(rows: readonly Row[]) => readonly Row[];

/** Compares without regard to case. `localeCompare` would delay the first row on a phone by about 50 ms. */
function compareNames(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  return a < b ? -1 : Number(a > b);
}

/** Sorts by a key that is computed once for each row instead of once for each comparison. */
const sortBy =
  <Key>(keyOf: (row: Sorted) => Key, compare: (a: Key, b: Key) => number): Order =>
  (rows) =>
    rows
      .map((row) => ({ row, key: keyOf(row) }))
      .sort((a, b) => compare(a.key, b.key))
      .map(({ row }) => row);

const latest = (field: 'createdAt' | 'updatedAt'): Order =>
  sortBy(
    (row) => Date.parse(row[field]),
    (a, b) => b - a,
  );

export const ORDERS: Readonly<Record<Filter['sort'], Order>> = {
  updated: latest('updatedAt'),
  created: latest('createdAt'),
  repository: sortBy(
    (row) => [formatRepository(row), row.number] as const,
    ([a, first], [b, second]) => compareNames(a, b) || second - first,
  ),
};

/** The options of the filters: every value that occurs on the board. */
export interface FilterOptions {
  /** Pairs of a value in the form of {@link getRepositoryKey} and its name. */
  readonly repos: readonly (readonly [string, string])[];
  readonly authors: readonly string[];
  readonly labels: readonly string[];
}

/** Computes each list of options when it is first read: on a phone, the filters are rarely opened. */
export function listFilterOptions(rows: readonly PullRequest[]): FilterOptions {
  const repos = once(() =>
    [...new Map(rows.map((row) => [getRepositoryKey(row), formatRepository(row)]))].sort(([, a], [, b]) =>
      compareNames(a, b),
    ),
  );
  const authors = once(() => distinct(rows.map(({ author }) => author)));
  const labels = once(() => distinct(rows.flatMap((row) => row.labels.map(({ name }) => name))));
  return {
    get repos() {
      return repos();
    },
    get authors() {
      return authors();
    },
    get labels() {
      return labels();
    },
  };
}

function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/** More suggestions would hide the list. */
const MOST_SUGGESTED = 8;

/** Returns texts that complete a search: terms and their values first, then titles that contain all of the text. */
export function suggestTexts(rows: readonly (Issue | PullRequest)[], text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  // Quotes, `-` and terms in a title have a meaning in a search, which may exclude the title.
  const isFound = (row: Issue | PullRequest): boolean => parseBoardSearch(row.title).matches(row);
  const found: string[] = [];
  for (const row of rows) {
    if (found.length === MOST_SUGGESTED) break;
    if (row.title.toLowerCase().includes(wanted) && isFound(row)) found.push(row.title);
  }
  const titles = distinct(found).filter((title) => title !== text);
  return [...suggestSearches(rows, text), ...titles].slice(0, MOST_SUGGESTED);
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort(compareNames);

/**
 * Returns the filter without values that no longer occur on the board, which would hide every row.
 *
 * @param views the names of the saved views; omitted while they are being loaded
 */
export function dropUnavailableValues(filter: Filter, choices: FilterOptions, views?: readonly string[]): Filter {
  const keep = (value: string, known: () => readonly string[]): string =>
    value === '' || known().includes(value) ? value : '';
  return {
    ...filter,
    view: keep(filter.view, () => views ?? [filter.view]),
    repo: keep(filter.repo, () => choices.repos.map(([repo]) => repo)),
    author: keep(filter.author, () => choices.authors),
    label: keep(filter.label, () => choices.labels),
  };
}

/** Returns `defaults` with the members of a stored filter that have the expected type. */
export function pickKnownFilters<F extends object>(stored: unknown, defaults: F): F {
  const members = new Map(Object.entries(stored ?? {}));
  const known = Object.entries(defaults).map(([name, value]) => {
    const found: unknown = members.get(name);
    return [name, typeof found === typeof value ? found : value] as const;
  });
  return Object.fromEntries(known) as F;
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
