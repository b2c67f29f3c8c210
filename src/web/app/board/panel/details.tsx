import type { ComponentChildren } from 'preact';
import { useCallback, useEffect } from 'preact/hooks';
import type { components } from '../../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../../api.js';
import { Avatar } from '../../ui/icon.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDuration, RelativeTime } from '../../ui/time-elements.js';
import { type PullRequest, toTarget } from '../data/rows.js';
import { listReviewers, toTimeline } from './reviews.js';

type Details = components['schemas']['PullRequestDetails'];
type Comment = components['schemas']['PullRequestComment'];
type ReviewState = Details['reviews'][number]['state'];

interface DiscussionProps {
  readonly row: PullRequest;
  /** Changes when the page has changed the pull request at the forge. */
  readonly changes: number;
}

/** The parts of a pull request that the board lacks, read from the forge when the panel opens. */
export function Discussion({ row, changes }: DiscussionProps) {
  const load = useCallback(async () => {
    const query = toTarget(row);
    return requireData(await dashboardClient.GET('/api/pull-requests/details', { params: { query } }));
  }, [row.forge, row.repo, row.number, row.updatedAt, changes]);
  const details = useResource(load);
  return (
    <AsyncContent from={details}>
      {(found) => (
        <>
          <Size details={found} />
          <About details={found} />
          <Reviewers row={row} details={found} />
          <Threads threads={found.threads} />
          <Timeline row={row} details={found} />
        </>
      )}
    </AsyncContent>
  );
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

function Size({ details: { additions, deletions, changedFiles, commits } }: { readonly details: Details }) {
  if (additions === undefined || deletions === undefined) return null;
  const rest = [
    changedFiles === undefined ? '' : counted(changedFiles, 'file'),
    commits === undefined ? '' : counted(commits, 'commit'),
  ].filter((part) => part !== '');
  return (
    <p class="size">
      <span class="good">+{additions.toLocaleString()}</span> <span class="bad">−{deletions.toLocaleString()}</span>
      <span class="quiet"> in {rest.join(', ')}</span>
    </p>
  );
}

function About({ details: { milestone, assignees = [] } }: { readonly details: Details }) {
  const parts = [
    assignees.length === 0 ? '' : `Assigned to ${assignees.join(', ')}`,
    milestone === undefined ? '' : `Milestone ${milestone}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : <p class="quiet">{parts.join(' · ')}</p>;
}

const VERDICTS: Readonly<Record<ReviewState | 'awaited', string>> = {
  approved: 'Approved',
  changes_requested: 'Changes requested',
  commented: 'Commented',
  dismissed: 'Dismissed',
  awaited: 'Review requested',
};

function Reviewers({ row, details }: { readonly row: PullRequest; readonly details: Details }) {
  const reviewers = listReviewers(details.reviews, row.requestedReviewerLogins);
  const { requiredApprovals, codeOwners = [] } = details;
  const approvals = reviewers.filter(({ state }) => state === 'approved').length;
  return (
    <section aria-labelledby="panel-reviewers">
      <h3 id="panel-reviewers">Reviewers</h3>
      {reviewers.length === 0 && row.reviewRequestedFromMyTeam !== true && (
        <p class="quiet">No reviews yet, and none requested.</p>
      )}
      {row.reviewRequestedFromMyTeam && <p>Review requested from your team.</p>}
      {requiredApprovals !== undefined && (
        <p>
          {approvals} of {counted(requiredApprovals, 'required approval')}
        </p>
      )}
      {codeOwners.length > 0 && <p>Waits for the code owners {codeOwners.join(', ')}.</p>}
      <ul>
        {reviewers.map(({ name, state, at }) => (
          <li key={name}>
            <Avatar name={name} />
            <strong>{name}</strong> <span class={`verdict ${state}`}>{VERDICTS[state]}</span>{' '}
            {at !== undefined && (
              <span class="quiet">
                <RelativeTime time={at} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Threads({ threads }: { readonly threads: readonly Comment[] }) {
  return (
    <section aria-labelledby="panel-threads">
      <h3 id="panel-threads">
        Unresolved threads <span class="quiet">{threads.length}</span>
      </h3>
      {threads.length === 0 && <p class="quiet">All threads are resolved.</p>}
      <ul>
        {threads.map((thread, index) => (
          <li key={index}>
            <ForgeLink url={thread.url}>
              {thread.path ?? 'General'}
              {thread.line !== undefined && `:${thread.line}`}
            </ForgeLink>
            <Said {...thread} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const Said = ({ author, excerpt, createdAt }: Comment) => (
  <>
    <p class="excerpt" dir="auto">
      {excerpt}
    </p>
    <span class="quiet">
      {author} · <RelativeTime time={createdAt} />
    </span>
  </>
);

function Timeline({ row, details }: { readonly row: PullRequest; readonly details: Details }) {
  return (
    <section aria-labelledby="panel-timeline">
      <h3 id="panel-timeline">Timeline</h3>
      <ol class="timeline">
        {toTimeline(row, details).map(({ at, actor, text, comment }, index) => (
          <li key={index}>
            <Avatar name={actor} />
            <strong>{actor}</strong> {comment ? <ForgeLink url={comment.url}>{text}</ForgeLink> : text}{' '}
            <span class="quiet">
              <RelativeTime time={at} />
            </span>
            {comment && (
              <p class="excerpt" dir="auto">
                {comment.excerpt}
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

type Check = components['schemas']['Check'];

const STATES: Readonly<Record<Check['state'], string>> = {
  failure: 'Failed',
  timed_out: 'Timed out',
  cancelled: 'Cancelled',
  running: 'Running',
  queued: 'Queued',
  success: 'Passed',
  skipped: 'Skipped',
};

const ORDER = Object.keys(STATES);

/** The board does not change when one of several running checks ends. */
const RUNNING_READ_MS = 60_000;

/** The checks of the newest commit with the logs of failures, which come first. They are read again while some are running. */
export function Checks({ row }: { readonly row: PullRequest }) {
  const load = useCallback(async () => {
    const query = toTarget(row);
    const { checks } = requireData(await dashboardClient.GET('/api/pull-requests/checks', { params: { query } }));
    return checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  }, [row.forge, row.repo, row.number, row.headSha, row.ci]);
  const checks = useResource(load);
  const { reload } = checks;
  const isRunning = checks.value?.some(({ state }) => state === 'running' || state === 'queued') ?? false;
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => (document.hidden ? undefined : void reload()), RUNNING_READ_MS);
    return () => clearInterval(timer);
  }, [isRunning, reload]);
  return (
    <section class="checks" aria-labelledby="panel-checks">
      <h3 id="panel-checks">Checks {checks.value !== undefined && <Passed checks={checks.value} />}</h3>
      <AsyncContent from={checks}>
        {(list) =>
          list.length === 0 ? (
            <p class="quiet">No checks have reported yet.</p>
          ) : (
            <ul>
              {list.map((check, index) => (
                // Names of checks are not unique.
                <CheckItem key={`${check.name} ${index}`} check={check} />
              ))}
            </ul>
          )
        }
      </AsyncContent>
    </section>
  );
}

const Passed = ({ checks }: { readonly checks: readonly Check[] }) =>
  checks.length === 0 ? null : (
    <span class="quiet">
      {checks.filter(({ state }) => state === 'success' || state === 'skipped').length} of {checks.length} passed
    </span>
  );

function CheckItem({ check }: { readonly check: Check }) {
  const { name, url, state, required, durationSeconds, failedStep, excerpt } = check;
  return (
    <li>
      <span class={`state ${state}`}>{STATES[state]}</span> <ForgeLink url={url}>{name}</ForgeLink>
      {required && <span class="quiet"> · required</span>}
      {durationSeconds !== undefined && <span class="quiet"> · {formatDuration(durationSeconds)}</span>}
      {failedStep !== undefined && <span> · failed at “{failedStep}”</span>}
      {excerpt !== undefined && (
        <pre tabIndex={0} role="region" aria-label={`End of the log of ${name}`}>
          {excerpt}
        </pre>
      )}
    </li>
  );
}

interface ForgeLinkProps {
  readonly url: string;
  readonly children: ComponentChildren;
}

/** A link to a page of a forge in a new tab. The address comes from the forge, so any scheme but HTTP is shown as text. */
function ForgeLink({ url, children }: ForgeLinkProps) {
  if (!/^https?:/.test(url)) return <>{children}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
