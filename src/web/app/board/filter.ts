import { repoName, repoOf } from './rows.js';
import type { PullRequest } from './rows.js';

/** What the list shows, and how; an empty text selects everything. */
export interface Filter {
  /** The name of a saved view, of which the rest selects further. */
  readonly view: string;
  readonly pill: Pill;
  /** As `repoOf` says. */
  readonly repo: string;
  readonly author: string;
  readonly label: string;
  readonly ci: string;
  /** Hours, as text. */
  readonly created: string;
  readonly updated: string;
  readonly text: string;
  readonly sort: 'created' | 'repository' | 'updated';
  readonly group: 'forge' | 'none' | 'repository' | 'section';
  readonly drafts: boolean;
  readonly snoozed: boolean;
  /** How many rows a page has where the list is not grouped; empty for all. */
  readonly size: string;
}

export type Pill = keyof typeof PILLS;

interface PillRule {
  readonly name: string;
  readonly holds: (one: PullRequest) => boolean;
}

/** Exactly one is chosen at a time. */
export const PILLS = {
  all: { name: 'All', holds: () => true },
  github: { name: 'GitHub', holds: ({ forge }) => forge === 'github' },
  forgejo: { name: 'Forgejo', holds: ({ forge }) => forge === 'forgejo' },
  gitlab: { name: 'GitLab', holds: ({ forge }) => forge === 'gitlab' },
  failing: { name: 'Failing CI', holds: ({ ci }) => ci === 'failure' },
  bots: { name: 'Bots', holds: ({ kind }) => kind === 'dependency' },
  ready: { name: 'Ready to merge', holds: ({ readyToMerge }) => readyToMerge },
  review: { name: 'Needs review', holds: ({ needsReview }) => needsReview },
  mine: { name: 'Review requested', holds: ({ reviewRequestedFromMe }) => reviewRequestedFromMe },
} as const satisfies Readonly<Record<string, PillRule>>;

export const SORTS: Readonly<Record<Filter['sort'], string>> = {
  updated: 'last activity',
  created: 'created',
  repository: 'repository',
};

export const NAMED_SORTS = Object.entries(SORTS) as [Filter['sort'], string][];

/** What the selects of times offer. */
export const HOURS = [
  ['', 'any time'],
  ['1', 'last hour'],
  ['24', 'last day'],
  ['168', 'last 7 days'],
  ['720', 'last 30 days'],
] as const;

export const GROUPS: Readonly<Record<Filter['group'], string>> = {
  section: 'whose turn it is',
  repository: 'repository',
  forge: 'forge',
  none: 'nothing',
};

export const SIZES = ['10', '25', '50', '100', ''] as const;

export const NO_FILTER: Filter = {
  view: '',
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

/** Whether anything is left out by choice; sorting and grouping leave nothing out. */
export function isFiltering(filter: Filter): boolean {
  return filter.view !== '' || countNarrowing(filter) > 0;
}

/** How many of its parts leave something out. */
export function countNarrowing({ pill, repo, author, label, ci, created, updated, text }: Filter): number {
  return (
    Number(pill !== 'all') + [repo, author, label, ci, created, updated, text].filter((value) => value !== '').length
  );
}

/** Selects and sorts. The board's own order is by urgency, which sections keep. */
export function applyFilter(rows: readonly PullRequest[], filter: Filter, now = Date.now()): readonly PullRequest[] {
  const wanted = filter.text.trim().toLowerCase();
  const selected = rows.filter(
    (one) =>
      PILLS[filter.pill].holds(one) &&
      (filter.repo === '' || repoOf(one) === filter.repo) &&
      (filter.author === '' || one.author === filter.author) &&
      (filter.label === '' || one.labels.some(({ name }) => name === filter.label)) &&
      (filter.ci === '' || (one.ciKnown !== false && one.ci === filter.ci)) &&
      isSince(one.createdAt, filter.created, now) &&
      isSince(one.updatedAt, filter.updated, now) &&
      (wanted === '' || one.title.toLowerCase().includes(wanted) || `#${one.number}` === wanted),
  );
  return ORDERS[filter.sort](selected);
}

/** Whether a time is within so many hours, as text; empty is any time. */
export const isSince = (time: string, hours: string, now: number): boolean =>
  hours === '' || Date.parse(time) >= now - Number(hours) * 3_600_000;

type Sorted = Pick<PullRequest, 'createdAt' | 'forge' | 'number' | 'repo' | 'updatedAt'>;
type Order = <Row extends Sorted>(rows: readonly Row[]) => readonly Row[];

/** Without regard to case. By the rules of a language it would take a phone a twentieth of a second before the first row. */
function compareNames(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  return a < b ? -1 : Number(a > b);
}

/** Sorts by what is worked out once for each row, not at each comparison: a phone takes long for thousands of them. */
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
    (row) => [repoName(row), row.number] as const,
    ([a, first], [b, second]) => compareNames(a, b) || second - first,
  ),
};

/** What the selects offer: every value that the board has. */
export interface Choices {
  /** As `repoOf` and as `repoName` say. */
  readonly repos: readonly (readonly [string, string])[];
  readonly authors: readonly string[];
  readonly labels: readonly string[];
}

/** Each is worked out when it is first asked for: on a phone, where filters are folded, that is seldom. */
export function choicesOf(rows: readonly PullRequest[]): Choices {
  const repos = once(() =>
    [...new Map(rows.map((row) => [repoOf(row), repoName(row)]))].sort(([, a], [, b]) => compareNames(a, b)),
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

/** More would hide the list, and are found by another letter. */
const MOST_SUGGESTED = 8;

/** Titles that have what is typed in them. */
export function suggest(rows: readonly PullRequest[], text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const found = rows.filter(({ title }) => title.toLowerCase().includes(wanted)).slice(0, MOST_SUGGESTED);
  return distinct(found.map(({ title }) => title)).filter((title) => title !== text);
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)].sort(compareNames);

/** A saved choice whose value is on the board no more would hide everything without being seen. Views may not be known yet. */
export function withoutVanished(filter: Filter, choices: Choices, views?: readonly string[]): Filter {
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
