import { useId, useState } from 'preact/hooks';
import { RelativeTime } from '../ui/relative-time.js';
import { memo } from '../ui/memo.js';
import { ChecksPanel } from './checks-panel.js';
import { Chip } from './chip.js';
import { RowActions } from './row-actions.js';
import { RowBadges } from './row-badges.js';
import { toCiState, FORGE_NAMES, getRowKey } from './rows.js';
import type { PullRequest } from './rows.js';

interface RowProps {
  readonly row: PullRequest;
  readonly isChosen: boolean;
  /** True on shared boards, which offer no actions. */
  readonly isReadOnly: boolean;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  readonly onLabel: (label: string) => void;
}

/** More labels would hide the title on a phone; the tooltip lists all of them. */
const MAX_LABELS = 3;

/** One pull request: link, status and actions. */
export const PullRequestRow = memo(function PullRequestRow(props: RowProps) {
  const { row, isChosen, isReadOnly, onChoose } = props;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const ci = toCiState(row);
  return (
    <li
      role="listitem"
      class={`pull ${row.changedSinceVisit ? 'changed' : ''} ${isReadOnly ? 'read-only' : ''}`}
      data-key={getRowKey(row)}
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
      <About {...props} id={`${id}-title`} />
      <button
        type="button"
        class={`ci ${row.ci}`}
        aria-expanded={isOpen}
        aria-controls={`${id}-checks`}
        aria-label={`CI of #${row.number}: ${ci.hint ?? ci.name}`}
        title={ci.hint}
        onClick={() => setOpen(!isOpen)}
      >
        {ci.name}
      </button>
      {!isReadOnly && <RowActions row={row} />}
      <div id={`${id}-checks`} class="checks" hidden={!isOpen}>
        {isOpen && <ChecksPanel row={row} />}
      </div>
    </li>
  );
});

function About({ row, onLabel, id }: RowProps & { readonly id: string }) {
  return (
    <div class="about">
      <div class="title">
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
        <span class="repo">{row.repo}</span> #{row.number} · {FORGE_NAMES[row.forge]} · {row.author} ·{' '}
        <RelativeTime time={row.updatedAt} />
        {row.review && row.review.decision !== 'none' && ` · ${REVIEWS[row.review.decision]}`}
        {row.behind && ' · branch out of date'}
        {row.mergeStatus === 'conflicting' && <span class="bad"> · merge conflicts</span>}
      </div>
    </div>
  );
}

const REVIEWS = {
  approved: 'approved',
  changes_requested: 'changes requested',
  review_required: 'review required',
} as const;
