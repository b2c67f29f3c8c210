import { computed, signal } from '@preact/signals';
import { type Board, FORGE_NAMES, formatRepository, type Issue, type PullRequest } from '../board/data/rows.js';
import { parseAddressState, type Query } from '../ui/address.js';
import { serverNow } from '../ui/times.js';
import type { ReviewDrillDown } from './reviews-data.js';
import { type Period, PERIODS } from './throughput-data.js';

/** A stacked bar of a chart. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly number[];
  /** A remark in words, so that colour is not the only sign of a problem. */
  readonly note?: string;
}

/** The maximum number of bars in a chart; its table lists all of them. */
export const MAX_BARS = 10;

const CI = ['success', 'pending', 'failure', 'none'] as const;

/**
 * Counts the pull requests of each repository by CI status, largest first; the parts have the order of {@link
 * CI_PARTS}.
 */
export function groupCiByRepository(rows: readonly PullRequest[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const row of rows) {
    const parts = bars.get(formatRepository(row)) ?? CI.map(() => 0);
    const at = CI.indexOf(row.ci);
    parts[at] = (parts[at] ?? 0) + 1;
    bars.set(formatRepository(row), parts);
  }
  return largestFirst(bars).map((bar) => {
    const failing = bar.parts[CI.indexOf('failure')] ?? 0;
    return failing === 0 ? bar : { ...bar, note: `${failing} failing` };
  });
}

export function groupIssuesByRepository(issues: readonly Issue[]): readonly Bar[] {
  const bars = new Map<string, number[]>();
  for (const issue of issues) bars.set(formatRepository(issue), [(bars.get(formatRepository(issue))?.[0] ?? 0) + 1]);
  return largestFirst(bars);
}

const largestFirst = (bars: ReadonlyMap<string, number[]>): readonly Bar[] =>
  [...bars].map(([label, parts]) => ({ label, parts })).sort((a, b) => sumParts(b) - sumParts(a));

/** Returns whether the charts count an issue: they exclude the dashboards of bots. */
export const isOrdinary = ({ housekeeping }: Issue): boolean => !housekeeping;

/** Returns the name of the part of {@link groupCiByRepository} to which a pull request belongs. */
export const findCiPart = ({ ci }: PullRequest): string => CI_PARTS[CI.indexOf(ci)] ?? CI_PARTS[3];

export const CI_PARTS = ['Passing', 'Running', 'Failing', 'None or unknown'] as const;

const AGES = [
  ['under a day', 1],
  ['1 to 3 days', 3],
  ['3 to 7 days', 7],
  ['7 to 30 days', 30],
  ['over 30 days', Infinity],
] as const;

/** Returns the label of the age group of an open item. */
function findAgeGroup({ createdAt }: { readonly createdAt: string }, now = serverNow()): string {
  const days = (now - Date.parse(createdAt)) / 86_400_000;
  return AGES.find(([, until]) => days < until)?.[0] ?? '';
}

/** Counts open items by the time since their creation. */
export function groupByAge(items: readonly { readonly createdAt: string }[], now = serverNow()): readonly Bar[] {
  const groups = items.map((item) => findAgeGroup(item, now));
  return AGES.map(([label]) => ({ label, parts: [groups.filter((group) => group === label).length] }));
}

type RateLimit = NonNullable<Board['forges'][number]['rateLimitREST']>;

export interface ApiQuota extends RateLimit {
  readonly name: string;
}

/** The consequence of each severity. */
export const SEVERITY_NAMES: Readonly<Record<RateLimit['severity'], string>> = {
  ok: 'Plenty left',
  warning: 'Running low',
  low: 'Almost used up: refreshes are paused',
  exceeded: 'Used up: no requests until the reset',
};

/** Returns the API quotas of all forges of a board. */
export function listApiQuotas({ forges }: Board): readonly ApiQuota[] {
  return forges.flatMap(({ forge, rateLimitGraphQL, rateLimitREST }) => [
    ...(rateLimitGraphQL ? [{ name: `${FORGE_NAMES[forge]} GraphQL`, ...rateLimitGraphQL }] : []),
    ...(rateLimitREST ? [{ name: `${FORGE_NAMES[forge]} REST`, ...rateLimitREST }] : []),
  ]);
}

export const sumParts = ({ parts }: Bar): number => parts.reduce((sum, part) => sum + part, 0);

/** The figure whose rows are shown, as address parameters; `chart` is empty while none is. */
interface DrillDown {
  readonly chart: string;
  /** The label of a bar; empty for all. */
  readonly group: string;
  /** The name of a part of the bar; empty for all. */
  readonly part: string;
}

type Row = Issue | PullRequest;

interface ChartRows {
  readonly title: string;
  readonly list: (board: Board) => readonly Row[];
  /** Returns the label of the bar to which a row belongs. */
  readonly group?: (row: Row) => string;
  /** Returns the part of the bar to which a row belongs. */
  readonly part?: (row: Row) => string;
}

/** The charts whose figures count rows of the current board. */
const CHARTS: Readonly<Record<string, ChartRows>> = {
  ci: {
    title: 'CI by repository',
    list: ({ pullRequests }) => pullRequests,
    group: formatRepository,
    part: (row) => ('ci' in row ? findCiPart(row) : CI_PARTS[3]),
  },
  issues: { title: 'Issues by repository', list: ({ issues }) => issues.filter(isOrdinary), group: formatRepository },
  age: { title: 'Pull request age', list: ({ pullRequests }) => pullRequests, group: (row) => findAgeGroup(row) },
  'issue-age': {
    title: 'Issue age',
    list: ({ issues }) => issues.filter(isOrdinary),
    group: (row) => findAgeGroup(row),
  },
  open: { title: 'Open pull requests, with drafts', list: ({ pullRequests }) => pullRequests },
};

interface FoundRows {
  readonly title: string;
  /** Oldest first. */
  readonly rows: readonly Row[];
}

/** Returns the rows behind a figure; `undefined` for an unknown chart. */
export function findRows(board: Board, { chart, group, part }: DrillDown): FoundRows | undefined {
  if (!Object.hasOwn(CHARTS, chart)) return undefined;
  const found = CHARTS[chart];
  if (found === undefined) return undefined;
  const rows = found
    .list(board)
    .filter((row) => (group === '' || found.group?.(row) === group) && (part === '' || found.part?.(row) === part));
  const title = [found.title, group, part].filter((text) => text !== '').join(' · ');
  return { title, rows: rows.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)) };
}

/** The names of the columns of {@link toRowCells}. */
export const ROW_COLUMNS = ['Code host', 'Repository', 'Number', 'Title', 'Author', 'Created', 'Updated', 'CI', 'URL'];

/** Returns the cells of a row in an export. */
export const toRowCells = (row: Row): readonly string[] => [
  ...[FORGE_NAMES[row.forge], row.repo, String(row.number), row.title, row.author],
  ...[row.createdAt, row.updatedAt, 'ci' in row ? findCiPart(row) : '', row.url],
];

/** Formats rows of texts as CSV (RFC 4180), with a heading and CRLF line ends. */
export const toCsv = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');

/** Spreadsheets run texts that begin with these characters as formulas, also in full width. Titles come from others. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

function toCell(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  const safe = !isNumber && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

interface InsightsState extends DrillDown, ReviewDrillDown {
  /** The days of a period. */
  readonly period: string;
  /** Limits the review times to a repository, such as `github/acme/shop`; empty for all. */
  readonly repository: string;
}

const NO_ROWS = { chart: '', group: '', part: '', measure: '', reviewer: '', atLeastSeconds: '', belowSeconds: '' };

/** The state of the page as address parameters, which survive navigation to other pages. */
export const NO_INSIGHTS_STATE: InsightsState = { period: String(PERIODS[0].days), repository: '', ...NO_ROWS };

export const insightsState = signal(NO_INSIGHTS_STATE);

export const readInsightsState = (query: Query) => parseAddressState(query, NO_INSIGHTS_STATE);

export const period = computed<Period>(
  () => PERIODS.find(({ days }) => String(days) === insightsState.value.period) ?? PERIODS[0],
);

/** Shows the rows behind a figure. */
export const showRows = (chart: string, group = '', part = ''): void =>
  void (insightsState.value = { ...insightsState.value, ...NO_ROWS, chart, group, part });

/** Shows the pull requests behind a figure of the reviews. */
export const showReviewRows = (rows: Partial<ReviewDrillDown>): void =>
  void (insightsState.value = { ...insightsState.value, ...NO_ROWS, ...rows });

export const hideRows = (): void => showRows('');
