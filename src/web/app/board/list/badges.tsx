import { formatDateTime } from '../../ui/times.js';
import type { PullRequest } from '../data/rows.js';
import { Chip } from './chip.js';

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
