import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { toAge } from '../shell/age.js';
import { toMoment } from '../shell/times.js';
import { ChecksPanel } from './checks-panel.js';
import { Chip } from './chip.js';
import { RowActions } from './row-actions.js';
import { CI_NAMES, FORGE_NAMES, keyOf } from './rows.js';
import type { PullRequest } from './rows.js';

interface RowProps {
  readonly row: PullRequest;
  readonly isChosen: boolean;
  readonly onChoose: (row: PullRequest, isChosen: boolean) => void;
  readonly onLabel: (label: string) => void;
}

/** More labels would hide the title on a phone; all are in the tooltip. */
const MAX_LABELS = 3;

/** One pull request. Its title is the link; the rest says where it stands and what can be done. */
export const PullRequestRow = memo(function PullRequestRow({ row, isChosen, onChoose, onLabel }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const id = `row-${keyOf(row).replaceAll(/[^\w-]/g, '-')}`;
  return (
    <li class={`pull ${row.changedSinceVisit ? 'changed' : ''}`} data-key={keyOf(row)} aria-labelledby={`${id}-title`}>
      <input
        type="checkbox"
        class="choose"
        aria-label={`Choose #${row.number}, ${row.title}`}
        checked={isChosen}
        onChange={({ currentTarget }) => onChoose(row, currentTarget.checked)}
      />
      <div class="about">
        <div class="title" id={`${id}-title`}>
          <a class="open" href={row.url} target="_blank" rel="noreferrer">
            {row.title}
          </a>{' '}
          {row.changedSinceVisit && <Chip kind="new">new</Chip>}
          {row.draft && <Chip kind="quiet">draft</Chip>}
          {row.snooze && <Chip kind="quiet">{describeSnooze(row.snooze)}</Chip>}
          {row.stack && (
            <Chip kind="quiet">
              {row.stack.position} of {row.stack.size} in a stack
            </Chip>
          )}
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
          <time dateTime={row.updatedAt} title={toMoment(row.updatedAt)}>
            {toAge(row.updatedAt)}
          </time>
          {row.review && row.review.decision !== 'none' && ` · ${REVIEWS[row.review.decision]}`}
          {row.behind && ' · behind its base'}
          {row.mergeStatus === 'conflicting' && ' · conflicts'}
        </div>
      </div>
      <button
        type="button"
        class={`ci ${row.ci}`}
        aria-expanded={isOpen}
        aria-controls={`${id}-checks`}
        onClick={() => setOpen(!isOpen)}
      >
        {CI_NAMES[row.ci]}
      </button>
      <RowActions row={row} isBusy={isBusy} onBusy={setBusy} />
      <div id={`${id}-checks`} class="checks" hidden={!isOpen}>
        {isOpen && <ChecksPanel row={row} />}
      </div>
    </li>
  );
});

const REVIEWS = {
  approved: 'approved',
  changes_requested: 'changes requested',
  review_required: 'review required',
} as const;

function describeSnooze({ until, untilChange }: NonNullable<PullRequest['snooze']>): string {
  const parts = [until === undefined ? '' : `until ${toMoment(until)}`, untilChange ? 'until it changes' : ''];
  return `set aside ${parts.filter((part) => part !== '').join(', or ')}`;
}
