/** The first rows of a board's list, for a page that shows them before it has received the whole board. */
import type { components } from '../../generated/dashboard/types.js';
import { SECTIONS } from '../forges/sections.js';
import type { Board } from './board.js';

type Section = components['schemas']['Section'];

/** The numbers of a whole board that a page shows. */
export interface BoardCounts {
  readonly open: number;
  readonly failing: number;
  /** Without repositories whose only pull requests on the board are the user's. */
  readonly repositories: number;
  readonly snoozed: number;
  /** The rows of the list by section, without snoozed rows. */
  readonly sections: Readonly<Record<Section, number>>;
}

export interface FirstRows {
  /** The board with the first rows of its list only, and without issues and repositories. */
  readonly board: Board;
  readonly counts: BoardCounts;
}

/** The values with which the stored filter of the page selects, sorts and groups rows as for a new user. */
const WHOLE_LIST: Readonly<Record<string, unknown>> = {
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
  snoozed: false,
};

/** Returns whether the list with a stored filter starts with {@link toFirstRows}. Values that are not stored are those. */
export const listsAll = (filter: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(WHOLE_LIST).every(([name, value]) => (filter[name] ?? value) === value);

/** More than the rows on any screen. */
const MAX_ROWS = 50;

/** Returns the first rows of the list that is grouped by whose turn it is, each group by last activity. */
export function toFirstRows(board: Board): FirstRows {
  const listed = board.pullRequests.filter(({ snooze }) => !snooze);
  const bySection = SECTIONS.map((section) => listed.filter((row) => row.section === section));
  const sections = Object.fromEntries(SECTIONS.map((section, index) => [section, bySection[index]?.length ?? 0]));
  const rows = bySection.flatMap((members) =>
    members
      .map((row) => ({ row, at: Date.parse(row.updatedAt) }))
      .sort((one, other) => other.at - one.at)
      .map(({ row }) => row),
  );
  return {
    board: { ...board, pullRequests: rows.slice(0, MAX_ROWS), issues: [], repos: [] },
    counts: {
      open: board.pullRequests.length,
      failing: board.pullRequests.filter(({ ci }) => ci === 'failure').length,
      repositories: board.repos.filter(({ yoursOnly }) => yoursOnly !== true).length,
      snoozed: board.pullRequests.length - listed.length + board.hiddenSnoozed,
      sections: sections as Record<Section, number>,
    },
  };
}
