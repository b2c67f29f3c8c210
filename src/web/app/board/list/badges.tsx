import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../ui/icon.js';
import { formatDateTime } from '../../ui/times.js';
import { type Board, type ForgeName, FORGE_NAMES, type PullRequest } from '../data/rows.js';

/** Badges of states that need attention; a row shows no others. */
export function RowBadges({ row }: { readonly row: PullRequest }) {
  return (
    <>
      {row.changedSinceVisit && <Chip kind="new">new</Chip>}
      {row.draft && <Chip kind="quiet">draft</Chip>}
      {row.snooze && <Chip kind="quiet">{describeSnooze(row.snooze)}</Chip>}
      {row.autoMerge && (
        <Chip kind="quiet">{row.autoMerge.state === 'waiting' ? 'merges when ready' : row.autoMerge.message}</Chip>
      )}
      {row.autoMergeEnabled && !row.autoMerge && <Chip kind="quiet">merges when ready</Chip>}
      {row.mergeQueue && <Chip kind="quiet">{describeQueue(row.mergeQueue)}</Chip>}
      {row.botRequest && <Chip kind="quiet">{describeBot(row.botRequest)}</Chip>}
      {row.updateRequest && (
        <Chip kind="quiet">{row.updateRequest.phase === 'queued' ? 'updating branch' : 'branch not updated'}</Chip>
      )}
    </>
  );
}

/** All badges of a pull request. */
export function PullRequestBadges({ row }: { readonly row: PullRequest }) {
  return (
    <>
      <RowBadges row={row} />
      {row.stack && (
        <Chip kind="quiet">
          {row.stack.position} of {row.stack.size} in a stack
        </Chip>
      )}
    </>
  );
}

function describeQueue({ position, state }: NonNullable<PullRequest['mergeQueue']>): string {
  if (state === 'unmergeable') return 'failed in the merge queue';
  return `position ${position} in the merge queue`;
}

function describeSnooze({ until, untilChange }: NonNullable<PullRequest['snooze']>): string {
  const parts = [until === undefined ? '' : `until ${formatDateTime(until)}`, untilChange ? 'until it changes' : ''];
  return `snoozed ${parts.filter((part) => part !== '').join(', or ')}`;
}

const BOTS = { dependabot: 'Dependabot', renovate: 'Renovate' } as const;

function describeBot({ bot, action, phase }: NonNullable<PullRequest['botRequest']>): string {
  if (phase === 'expired') return `${BOTS[bot]} did not respond`;
  return phase === 'rebasing' ? `${BOTS[bot]} is working on it` : `${BOTS[bot]} was asked to ${action}`;
}

interface ChipProps {
  readonly kind?: 'new' | 'quiet';
  /** The colour of a label, as six hexadecimal digits. */
  readonly color?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A short text in a frame. The tint of a label's colour is light enough to keep the text legible for every colour. */
export function Chip({ kind, color, onClick, children }: ChipProps) {
  const look = `chip ${kind ?? ''} ${color === undefined ? '' : 'label'}`;
  const chip = useRef<HTMLButtonElement & HTMLSpanElement>(null);
  useEffect(() => {
    if (color === undefined || chip.current === null) return;
    // The content security policy forbids inline styles, but not styles set by scripts.
    chip.current.style.setProperty('--label', `#${color}`);
  }, [color]);
  if (onClick === undefined) {
    return (
      <span ref={chip} class={look}>
        {children}
      </span>
    );
  }
  return (
    // Not a tab stop: rows have many labels, and the filters offer the same by keyboard.
    <button ref={chip} type="button" class={look} tabIndex={-1} onClick={onClick}>
      {children}
    </button>
  );
}

/** The mark of a code host. */
export const ForgeMark = ({ forge }: { readonly forge: ForgeName }) => (
  <span class="mark" role="img" aria-label={FORGE_NAMES[forge]} title={FORGE_NAMES[forge]}>
    <Icon name={forge} />
  </span>
);

/** Returns whether a board has rows of several code hosts, so that its rows name theirs. */
export const hasSeveralForges = ({ forges, furtherForges = [] }: Board): boolean =>
  new Set([...forges, ...furtherForges].map(({ forge }) => forge)).size > 1;
