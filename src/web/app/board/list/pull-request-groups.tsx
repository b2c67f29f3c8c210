import { useLayoutEffect, useRef } from 'preact/hooks';
import { memo } from '../../ui/memo.js';
import { getRowKey, type PullRequest } from '../data/rows.js';
import { pullRequestFilter } from '../filter/filter-store.js';
import { type Block, BLOCK_SIZE, type Group, toBlocks } from './groups.js';
import { UndrawnRows, useProgressiveRendering } from './paging.js';
import { PullRequestRow } from './pull-request-row.js';
import { toSelection } from './selection.js';

interface PullRequestGroupsProps extends Omit<RowBlockProps, keyof Block> {
  readonly groups: readonly Group[];
  /** Identifies the list; a new value starts drawing again from the first rows. */
  readonly list: string;
}

/** The rows under their group headings. Rows far below the screen are drawn later. */
export function PullRequestGroups({ groups, list, ...rest }: PullRequestGroupsProps) {
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const { selected } = rest;
  const at =
    selected === '' ? -1 : groups.flatMap(({ rows }) => rows).findIndex((row) => toSelection(row) === selected);
  // The keys that go on from the row in the side panel need the rows after it.
  const drawn = useProgressiveRendering(count, list, at === -1 ? 0 : at + BLOCK_SIZE);
  return (
    <>
      {toBlocks(groups, drawn.count).map(({ name, rows, total, blocks }) => (
        <section key={name} aria-label={name || 'Pull requests'}>
          {name !== '' && (
            <h2>
              {name} <span class="quiet">{total ?? rows.length}</span>
            </h2>
          )}
          <div role="list">
            {blocks.map((block, index) => (
              <RowBlock key={index} {...block} {...rest} />
            ))}
          </div>
        </section>
      ))}
      <UndrawnRows {...drawn} />
    </>
  );
}

interface RowBlockProps extends Block {
  readonly chosen: ReadonlySet<string>;
  /** The address form of the row in the side panel; empty without one. */
  readonly selected: string;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  readonly isReadOnly: boolean;
  /** Whether rows have the mark of their code host. */
  readonly hasMark: boolean;
  readonly onSelect: (selection: string) => void;
}

const onLabel = (label: string): void => void (pullRequestFilter.value = { ...pullRequestFilter.value, label });

/**
 * A block of consecutive rows. The browser skips the layout of a block that is far from the screen, and an unchanged
 * block is not redrawn, so that neither gets slower with many rows. Drawn rows stay in the document for searching and
 * screen readers; the block itself has no role.
 */
const RowBlock = memo(function RowBlock({ rows, isFar, chosen, selected, ...rest }: RowBlockProps) {
  const block = useRef<HTMLUListElement>(null);
  // Sets an estimated height until the block is first drawn.
  useLayoutEffect(() => {
    if (isFar) block.current?.style.setProperty('--rows', String(rows.length));
  }, [isFar, rows.length]);
  return (
    <ul ref={block} role="none" class={`pulls ${isFar ? 'far' : ''}`}>
      {rows.map((row) => (
        <PullRequestRow
          key={getRowKey(row)}
          {...{ row, onLabel, ...rest }}
          isChosen={chosen.has(getRowKey(row))}
          isSelected={toSelection(row) === selected}
        />
      ))}
    </ul>
  );
}, isSame);

function isSame(before: RowBlockProps, after: RowBlockProps): boolean {
  const isMarked = (row: PullRequest): boolean =>
    before.chosen.has(getRowKey(row)) === after.chosen.has(getRowKey(row));
  const isReselected = (row: PullRequest): boolean => [before.selected, after.selected].includes(toSelection(row));
  return (
    before.isFar === after.isFar &&
    before.isReadOnly === after.isReadOnly &&
    before.hasMark === after.hasMark &&
    before.onChoose === after.onChoose &&
    before.onSelect === after.onSelect &&
    before.rows.length === after.rows.length &&
    before.rows.every((row, index) => row === after.rows[index]) &&
    (before.chosen === after.chosen || after.rows.every(isMarked)) &&
    (before.selected === after.selected || !after.rows.some(isReselected))
  );
}
