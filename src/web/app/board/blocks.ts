import type { Group } from './groups.js';
import type { PullRequest } from './rows.js';

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

export interface DrawnGroup extends Group {
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
