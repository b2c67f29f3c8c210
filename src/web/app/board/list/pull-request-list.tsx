import { type FunctionComponent, h, type VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Avatar, Icon, type IconName } from '../../ui/icon.js';
import { RelativeTime } from '../../ui/time-elements.js';
import { getRowKey, type PullRequest, toCiState } from '../data/rows.js';
import { pullRequestFilter } from '../filter/filter-store.js';
import { type Block, BLOCK_SIZE, type Group, toBlocks } from '../filter/filter.js';
import { RowActions } from '../row-actions.js';
import { Chip, ForgeMark, RowBadges } from './badges.js';
import { UndrawnRows, useProgressiveRendering } from './paging.js';
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
  const block = useRef<HTMLDivElement>(null);
  // Sets an estimated height until the block is first drawn.
  useLayoutEffect(() => {
    if (isFar) block.current?.style.setProperty('--rows', String(rows.length));
  }, [isFar, rows.length]);
  return (
    <div ref={block} class={`pulls ${isFar ? 'far' : ''}`}>
      {rows.map((row) => (
        <PullRequestRow
          key={getRowKey(row)}
          {...{ row, onLabel, ...rest }}
          isChosen={chosen.has(getRowKey(row))}
          isSelected={toSelection(row) === selected}
        />
      ))}
    </div>
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

interface RowProps {
  readonly row: PullRequest;
  readonly isChosen: boolean;
  /** Whether the side panel shows the row. */
  readonly isSelected: boolean;
  /** True on shared boards, which offer no actions. */
  readonly isReadOnly: boolean;
  /** Whether the row has the mark of its code host. */
  readonly hasMark: boolean;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  readonly onLabel: (label: string) => void;
  readonly onSelect: (selection: string) => void;
}

/** More labels would hide the title on a phone; the side panel has all of them. */
const MAX_LABELS = 2;

/** One pull request: link, state, CI and actions. The side panel has the rest. */
const PullRequestRow = memo(function PullRequestRow(props: RowProps) {
  const { row, isChosen, isSelected, isReadOnly, onChoose, onSelect } = props;
  const id = useId();
  const ci = toCiState(row);
  return (
    <div
      role="listitem"
      class={`pull ${row.changedSinceVisit ? 'changed' : ''} ${isReadOnly ? 'read-only' : ''}`}
      data-key={toSelection(row)}
      aria-current={isSelected ? 'true' : undefined}
      aria-labelledby={`${id}-title`}
    >
      {!isReadOnly && (
        <label class="choose">
          <input
            type="checkbox"
            aria-label={`Select #${row.number}, ${row.title}`}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(row, currentTarget.checked)}
          />
        </label>
      )}
      <span class={`glyph ${toGlyph(row)}`}>
        <Icon name={toGlyph(row)} />
      </span>
      <About {...props} id={`${id}-title`} />
      <RequestedReviewers {...row} />
      <div class="end">
        <button
          type="button"
          class={`ci ${row.ci}`}
          aria-haspopup="dialog"
          aria-label={`CI of #${row.number}: ${ci.hint ?? ci.name}`}
          title={ci.hint}
          onClick={() => onSelect(toSelection(row))}
        >
          <Icon name={row.ciKnown === false ? 'dash' : CI_ICONS[row.ci]} /> {ci.name}
        </button>
        {!isReadOnly && <RowActions row={row} />}
      </div>
    </div>
  );
});

const CI_ICONS: Readonly<Record<PullRequest['ci'], IconName>> = {
  success: 'check',
  failure: 'cross',
  pending: 'clock',
  none: 'dash',
};

/** The state of a row at a glance; badges and texts of the row say the same. */
function toGlyph({ draft, mergeStatus, section }: PullRequest): IconName {
  if (draft) return 'draft';
  if (mergeStatus === 'conflicting') return 'conflict';
  return section === 'needs_your_review' ? 'review' : 'open';
}

/** Returns the one reason why a pull request waits: what its author has to fix, what blocks a merge, or its review. */
function findReason({ allowedActions, behind, mergeStatus, ci, section, review }: PullRequest): string | undefined {
  if (mergeStatus === 'conflicting') return 'merge conflicts';
  if (review?.decision === 'changes_requested') return 'changes requested';
  if (behind) return 'branch out of date';
  if (ci === 'failure' || section === 'needs_your_review') return undefined;
  const blocked = allowedActions.find(({ action }) => action === 'merge')?.blocked?.message.replace(/\.$/, '');
  return blocked ?? (review?.decision === 'approved' ? 'approved' : undefined);
}

/** More avatars would not fit their column. */
const MAX_AVATARS = 3;

/** The users whose review is requested. */
function RequestedReviewers({ requestedReviewerLogins: logins }: PullRequest) {
  if (logins.length === 0) return <span class="reviewers" />;
  const text = `Review requested from ${logins.join(', ')}`;
  return (
    <span class="reviewers" role="img" aria-label={text} title={text}>
      {logins.slice(0, MAX_AVATARS).map((login) => (
        <Avatar key={login} name={login} />
      ))}
      {logins.length > MAX_AVATARS && <span class="quiet">+{logins.length - MAX_AVATARS}</span>}
    </span>
  );
}

function About({ row, hasMark, onLabel, id }: RowProps & { readonly id: string }) {
  const reason = findReason(row);
  return (
    <div class="about">
      <div class="title" dir="auto">
        <a id={id} class="open" href={row.url} target="_blank" rel="noreferrer">
          {row.title}
        </a>{' '}
        <RowBadges row={row} />
        {row.labels.slice(0, MAX_LABELS).map(({ name, color }) => (
          <Chip key={name} color={color} onClick={() => onLabel(name)}>
            {name}
          </Chip>
        ))}
        {row.labels.length > MAX_LABELS && (
          <span class="quiet" title={row.labels.map(({ name }) => name).join(', ')}>
            +{row.labels.length - MAX_LABELS}
          </span>
        )}
      </div>
      <div class="where quiet">
        {hasMark && <ForgeMark forge={row.forge} />}
        <span class="repo">{row.repo}</span> #{row.number} · <Avatar name={row.author} />
        {row.author} · <RelativeTime time={row.updatedAt} />
        <Size {...row} />
        {row.credential && ` · ${row.credential.label}`}
        {row.foundBy && ` · ${row.foundBy.map((one) => INVOLVEMENTS[one]).join(', ')}`}
        {reason !== undefined && <span class={BAD.has(reason) ? 'bad' : undefined}> · {reason}</span>}
      </div>
    </div>
  );
}

/** The numbers of added and deleted lines, on wide screens. */
function Size({ additions, deletions }: PullRequest) {
  if (additions === undefined || deletions === undefined) return null;
  return (
    <span class="size" title="added and deleted lines">
      {' '}
      · +{additions.toLocaleString()} −{deletions.toLocaleString()}
    </span>
  );
}

const BAD: ReadonlySet<string> = new Set(['changes requested', 'merge conflicts']);

const INVOLVEMENTS = {
  author: 'opened by you',
  review_requested: 'your review requested',
  assigned: 'assigned to you',
  mentioned: 'mentions you',
} as const;

/**
 * Returns a component that is redrawn only if `isSame` returns false for its properties. It corresponds to `memo` of
 * preact/compat, which would add hooks to the creation of every element.
 */
function memo<Props extends object>(
  draw: FunctionComponent<Props>,
  isSame: (before: Props, after: Props) => boolean = hasSameValues,
): FunctionComponent<Props> {
  return function Memo(props) {
    const last = useRef<{ readonly props: Props; readonly node: VNode<Props> } | undefined>(undefined);
    // Preact skips a subtree if its node is the same object as before.
    if (last.current === undefined || !isSame(last.current.props, props)) {
      last.current = { props, node: h(draw, props) };
    }
    return last.current.node;
  };
}

function hasSameValues<Props extends object>(before: Props, after: Props): boolean {
  const names = Object.keys(after) as (keyof Props)[];
  return names.length === Object.keys(before).length && names.every((name) => before[name] === after[name]);
}
