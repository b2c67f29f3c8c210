import { useLayoutEffect, useRef } from 'preact/hooks';
import { memo } from '../shell/memo.js';
import { filter } from './filter-store.js';
import { PullRequestRow } from './pull-request-row.js';
import type { Block } from './blocks.js';
import { keyOf } from './rows.js';
import type { PullRequest } from './rows.js';

export interface RowBlockProps extends Block {
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  readonly isReadOnly: boolean;
}

const onLabel = (label: string): void => void (filter.value = { ...filter.value, label });

/**
 * Some rows that follow each other. The browser passes over a block that is far from the screen as over one thing, and
 * this page does when nothing in it changed: then neither takes longer where there are thousands of rows. All of them
 * are in the document nevertheless, for whoever searches it, or has it read out; a block itself means nothing there.
 */
export const RowBlock = memo(function RowBlock({ rows, isFar, chosen, ...rest }: RowBlockProps) {
  const block = useRef<HTMLUListElement>(null);
  // About as high as its rows, before it is seen.
  useLayoutEffect(() => {
    if (isFar) block.current?.style.setProperty('--rows', String(rows.length));
  }, [isFar, rows.length]);
  return (
    <ul ref={block} role="none" class={`pulls ${isFar ? 'far' : ''}`}>
      {rows.map((row) => (
        <PullRequestRow key={keyOf(row)} {...{ row, onLabel, ...rest }} isChosen={chosen.has(keyOf(row))} />
      ))}
    </ul>
  );
}, isSame);

function isSame(before: RowBlockProps, after: RowBlockProps): boolean {
  const isMarked = (row: PullRequest): boolean => before.chosen.has(keyOf(row)) === after.chosen.has(keyOf(row));
  return (
    before.isFar === after.isFar &&
    before.isReadOnly === after.isReadOnly &&
    before.onChoose === after.onChoose &&
    before.rows.length === after.rows.length &&
    before.rows.every((row, index) => row === after.rows[index]) &&
    (before.chosen === after.chosen || after.rows.every(isMarked))
  );
}
