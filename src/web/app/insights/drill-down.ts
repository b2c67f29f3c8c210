import { type Board, formatRepository, FORGE_NAMES, type Issue, type PullRequest } from '../board/data/rows.js';
import { CI_PARTS, findAgeGroup, findCiPart, isOrdinary } from './chart-data.js';

/** The figure whose rows are shown, as address parameters; `chart` is empty while none is. */
export interface DrillDown {
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
