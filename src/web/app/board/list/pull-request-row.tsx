import { useCallback, useId, useState } from 'preact/hooks';
import type { components } from '../../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../../api.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { memo } from '../../ui/memo.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDuration, RelativeTime } from '../../ui/time-elements.js';
import { formatDateTime } from '../../ui/times.js';
import { RowActions } from '../actions/row-actions.js';
import { FORGE_NAMES, getRowKey, type PullRequest, toCiState, toTarget } from '../data/rows.js';
import { Chip } from './chip.js';

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
      <span class={`glyph ${toGlyph(row)}`}>
        <Icon name={toGlyph(row)} />
      </span>
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
        <Icon name={row.ciKnown === false ? 'dash' : CI_ICONS[row.ci]} /> {ci.name}
      </button>
      {!isReadOnly && <RowActions row={row} />}
      <div id={`${id}-checks`} class="checks" hidden={!isOpen}>
        {isOpen && <ChecksPanel row={row} />}
      </div>
    </li>
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

/** Returns why a pull request cannot be merged, unless its row already says so. */
function findReason({ allowedActions, behind, mergeStatus, ci, section }: PullRequest): string | undefined {
  if (behind || mergeStatus === 'conflicting' || ci === 'failure' || section === 'needs_your_review') return undefined;
  return allowedActions.find(({ action }) => action === 'merge')?.blocked?.message.replace(/\.$/, '');
}

function About({ row, onLabel, id }: RowProps & { readonly id: string }) {
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
        <span class="repo">{row.repo}</span> #{row.number} · {FORGE_NAMES[row.forge]} · {row.author} ·{' '}
        <RelativeTime time={row.updatedAt} />
        {row.review && row.review.decision !== 'none' && ` · ${REVIEWS[row.review.decision]}`}
        {row.credential && ` · ${row.credential.label}`}
        {row.foundBy && ` · ${row.foundBy.map((one) => INVOLVEMENTS[one]).join(', ')}`}
        {row.behind && ' · branch out of date'}
        {row.mergeStatus === 'conflicting' && <span class="bad"> · merge conflicts</span>}
        {reason !== undefined && ` · ${reason}`}
      </div>
    </div>
  );
}

const INVOLVEMENTS = {
  author: 'opened by you',
  review_requested: 'your review requested',
  assigned: 'assigned to you',
  mentioned: 'mentions you',
} as const;

const REVIEWS = {
  approved: 'approved',
  changes_requested: 'changes requested',
  review_required: 'review required',
} as const;

/** Short status badges of a pull request. */
function RowBadges({ row }: { readonly row: PullRequest }) {
  return (
    <>
      {row.changedSinceVisit && <Chip kind="new">new</Chip>}
      {row.draft && <Chip kind="quiet">draft</Chip>}
      {row.snooze && <Chip kind="quiet">{describeSnooze(row.snooze)}</Chip>}
      {row.stack && (
        <Chip kind="quiet">
          {row.stack.position} of {row.stack.size} in a stack
        </Chip>
      )}
      {row.autoMerge && (
        <Chip kind="quiet">{row.autoMerge.state === 'waiting' ? 'merges when ready' : row.autoMerge.message}</Chip>
      )}
      {row.autoMergeEnabled && !row.autoMerge && <Chip kind="quiet">merges when ready</Chip>}
      {row.mergeQueue && <Chip kind="quiet">{describeQueue(row.mergeQueue)}</Chip>}
      {row.reviewRequestedFromMyTeam && <Chip kind="quiet">review requested from your team</Chip>}
      {row.botRequest && <Chip kind="quiet">{describeBot(row.botRequest)}</Chip>}
      {row.updateRequest && (
        <Chip kind="quiet">{row.updateRequest.phase === 'queued' ? 'updating branch' : 'branch not updated'}</Chip>
      )}
    </>
  );
}

function describeQueue({ position, state }: NonNullable<PullRequest['mergeQueue']>): string {
  if (state === 'unmergeable') return 'failed in the merge queue';
  return `${position} in the merge queue`;
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

type Check = components['schemas']['Check'];

const STATES: Readonly<Record<Check['state'], string>> = {
  queued: 'Queued',
  running: 'Running',
  success: 'Passed',
  failure: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
  timed_out: 'Timed out',
};

/** The checks of the newest commit, loaded from the forge when the panel opens. */
function ChecksPanel({ row }: { readonly row: PullRequest }) {
  const load = useCallback(async () => {
    const query = toTarget(row);
    return requireData(await dashboardClient.GET('/api/pull-requests/checks', { params: { query } })).checks;
  }, [row.forge, row.repo, row.number, row.headSha]);
  const checks = useResource(load);
  return (
    <AsyncContent from={checks}>
      {(list) =>
        list.length === 0 ? (
          <p>No checks have reported yet.</p>
        ) : (
          <ul>
            {list.map((check, index) => (
              // Names of checks are not unique.
              <li key={`${check.name} ${index}`}>
                <span class={`state ${check.state}`}>{STATES[check.state]}</span> <CheckName check={check} />
                {check.required && <span class="quiet"> · required</span>}
                {check.durationSeconds !== undefined && (
                  <span class="quiet"> · {formatDuration(check.durationSeconds)}</span>
                )}
                {check.failedStep !== undefined && <span> · failed at “{check.failedStep}”</span>}
                {check.excerpt !== undefined && (
                  <pre tabIndex={0} role="region" aria-label={`End of the log of ${check.name}`}>
                    {check.excerpt}
                  </pre>
                )}
              </li>
            ))}
          </ul>
        )
      }
    </AsyncContent>
  );
}

function CheckName({ check: { name, url } }: { readonly check: Check }) {
  // The URL comes from the forge and may have any scheme.
  if (!/^https?:/.test(url)) return <>{name}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}
