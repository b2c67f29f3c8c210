import type { Group } from './groups.js';
import type { PullRequest } from './rows.js';

/** Of rows: few enough to be drawn while a finger rests, and so many that a list of thousands has not many blocks. */
export const BLOCK = 20;

/** Rows that fit any screen. */
const NEAR = 2 * BLOCK;

export interface Block {
  readonly rows: readonly PullRequest[];
  /** Not among those that a screen begins with. What is there at once must not be guessed at: it would move when it is known. */
  readonly isFar: boolean;
}

export interface DrawnGroup extends Group {
  /** Its rows that are drawn. */
  readonly blocks: readonly Block[];
}

/** Cuts the first rows of a list into blocks; groups of which nothing is drawn yet are left out. */
export function toBlocks(groups: readonly Group[], drawn: number): readonly DrawnGroup[] {
  let left = drawn;
  return groups.flatMap((group) => {
    const count = Math.min(Math.max(left, 0), group.rows.length);
    const before = drawn - left;
    left -= group.rows.length;
    const starts = Array.from({ length: Math.ceil(count / BLOCK) }, (_none, index) => index * BLOCK);
    const blocks = starts.map((start) => ({
      rows: group.rows.slice(start, Math.min(start + BLOCK, count)),
      isFar: before + start >= NEAR,
    }));
    return blocks.length === 0 ? [] : [{ ...group, blocks }];
  });
}
