import { FORGE_NAMES, formatRepository, type PullRequest, type Section, SECTION_NAMES } from '../data/rows.js';
import type { Filter } from '../filter/filter.js';

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
