import { useId } from 'preact/hooks';
import { Avatar, Icon, type IconName } from '../../ui/icon.js';
import { memo } from '../../ui/memo.js';
import { RelativeTime } from '../../ui/time-elements.js';
import { RowActions } from '../actions/row-actions.js';
import { type PullRequest, toCiState } from '../data/rows.js';
import { RowBadges } from './badges.js';
import { Chip } from './chip.js';
import { ForgeMark } from './forge-mark.js';
import { toSelection } from './selection.js';

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
export const PullRequestRow = memo(function PullRequestRow(props: RowProps) {
  const { row, isChosen, isSelected, isReadOnly, onChoose, onSelect } = props;
  const id = useId();
  const ci = toCiState(row);
  return (
    <li
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
