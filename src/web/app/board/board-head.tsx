import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient } from '../api.js';
import { consumePreloaded, preloadedBoard } from '../page-data.js';
import { ActionButton } from '../ui/buttons.js';
import { ProblemText } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { EmptyState } from '../ui/resource.js';
import { Countdown } from '../ui/time-elements.js';
import { formatAge, formatDateTime, formatTime, serverNow } from '../ui/times.js';
import { boardError, boardOwner, isPaused, selectBoard, showNewest } from './data/board-store.js';
import { refreshBoard } from './data/follow-board.js';
import {
  describeRateLimit,
  listRateLimitLocks,
  nameCredential,
  rateLimitNoticeId,
  toForgeQuotas,
} from './data/forge-rate-limits.js';
import { type Board, FORGE_NAMES } from './data/rows.js';

/** The users whose boards are shared with the signed-in user. */
const owners = signal<readonly components['schemas']['SharedUser'][]>(preloadedBoard?.sharedWithMe ?? []);

interface BoardHeadProps {
  readonly title: string;
  /** Key figures beside the title. */
  readonly children?: ComponentChildren;
}

/** The head of every board page: title, owner picker and refresh controls. */
export function BoardHead({ title, children }: BoardHeadProps) {
  useLayoutEffect(() => void loadOwners(), [boardOwner.value]);
  return (
    <>
      <div class="head">
        <Heading>{title}</Heading>
        {children}
        {owners.value.length > 0 && <OwnerPicker />}
        <label class="choice">
          <input
            type="checkbox"
            checked={isPaused.value}
            onChange={({ currentTarget }) => (isPaused.value = currentTarget.checked)}
          />
          <span>
            Pause<span class="spare"> updates</span>
          </span>
        </label>
        <ActionButton onAct={refreshBoard}>Refresh</ActionButton>
      </div>
      {boardError.value !== undefined && (
        <p class="notes problem" role="alert">
          <ProblemText problem={boardError.value} />
        </p>
      )}
    </>
  );
}

/** Selects the board to show; shared boards are read-only. */
function OwnerPicker() {
  return (
    <label class="beside">
      Board of
      <select value={boardOwner.value} onChange={({ currentTarget }) => selectBoard(currentTarget.value)}>
        <option value="">me</option>
        {owners.value.map(({ username, displayName }) => (
          <option key={username} value={username}>
            {displayName}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Loads the shared boards. They rarely change, so once per page view and selected board is enough. */
async function loadOwners(): Promise<void> {
  const found =
    consumePreloaded('sharedWithMe') ??
    (await dashboardClient.GET('/api/sharing').catch(() => undefined))?.data?.sharedWithMe;
  // A failure ends no sharing.
  if (found === undefined) return;
  owners.value = found;
  if (boardOwner.value !== '' && !owners.value.some(({ username }) => username === boardOwner.value)) selectBoard('');
}

/** Explains why a board has no rows of a kind, with the next step. */
export function EmptyBoard({
  board,
  rows,
}: {
  readonly board: Board;
  readonly rows: 'charts' | 'issues' | 'pull requests' | 'repositories';
}) {
  const failed = [...board.forges, ...(board.furtherForges ?? [])].filter(({ error }) => error !== undefined);
  const isOwn = boardOwner.value === '';
  if (failed.length > 0) {
    const names = [...new Set(failed.map(({ forge }) => FORGE_NAMES[forge]))].join(' and ');
    const link = isOwn && <a href="/settings">Check the settings of {names}</a>;
    return <EmptyState icon="conflict" text={`${names} could not be read.`} next={link} />;
  }
  if (board.forges.length > 0 || !isOwn) {
    const link = isOwn && <a href="/repositories">Choose the repositories on your board</a>;
    return <EmptyState icon={ICONS[rows]} text={`No open ${rows}.`} next={link} />;
  }
  const text = `No code host connected yet. ${PURPOSES[rows]}`;
  return <EmptyState icon={ICONS[rows]} text={text} next={connect} />;
}

const ICONS = { charts: 'chart', issues: 'issue', 'pull requests': 'open', repositories: 'repository' } as const;

const PURPOSES = {
  charts: 'Insights show throughput, reviews, CI and ages.',
  issues: 'Open issues of all your repositories appear here.',
  'pull requests': 'Your pull requests appear here, grouped by whose turn it is.',
  repositories: 'Your repositories appear here, with their webhooks.',
} as const;

const connect = (
  <a class="button main" href="/settings">
    Connect GitHub, GitLab or Forgejo
  </a>
);

/** Whether a code host, or the owner of a shared board, supplies rows. */
export const hasSource = ({ forges }: Board): boolean => forges.length > 0 || boardOwner.value !== '';

/**
 * A button, over the page, that shows waiting updates. They wait so that no row moves while the user is about to press
 * it.
 */
export function UpdatesBar({ count }: { readonly count: number }) {
  return (
    <div class="updates" role="status">
      {count > 0 && (
        <ActionButton class="main" onAct={showUpdates}>
          Show {count} {count === 1 ? 'update' : 'updates'}
        </ActionButton>
      )}
    </div>
  );
}

function showUpdates(): Promise<void> {
  showNewest();
  return Promise.resolve();
}

/**
 * Notices above the list: problems of forges, such as outdated or missing data and exceeded limits, and auto-merges.
 */
export function ForgeNotices({ board }: { readonly board: Board }) {
  const states = [...board.forges, ...(board.furtherForges ?? [])];
  const notes = [...states.flatMap((one) => notesOf(one, board)), ...board.autoMerged.map(describeMerge)];
  const locks = listRateLimitLocks();
  return (
    <div class="notes" role="status" hidden={notes.length + locks.length === 0}>
      <ul>
        {locks.map((lock) => (
          // The line of a credential is announced once, and not again when the end changes.
          <li key={rateLimitNoticeId(lock)}>
            <span id={rateLimitNoticeId(lock)}>{describeRateLimit(lock)}</span> <Countdown until={lock.until} />
          </li>
        ))}
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

type Forge = Board['forges'][number];

function notesOf(one: Forge, board: Board): string[] {
  const { forge, error, staleSince, hidden, incompleteSearch, shadowed = 0, credential, expiresAt } = one;
  const name = nameCredential(one);
  const since = staleSince === undefined ? '' : ` Showing data from ${formatAge(staleSince)}.`;
  // An exceeded quota has its own notice, which disappears when it is reset.
  const short = toForgeQuotas(one).filter(({ severity }) => severity === 'warning' || severity === 'low');
  return [
    ...(error === undefined ? [] : [`${name}: ${error}${since}`]),
    ...(hidden === undefined ? [] : [describeHidden(name, hidden)]),
    ...(incompleteSearch === undefined ? [] : [describeSearch(name, incompleteSearch)]),
    ...(shadowed === 0 ? [] : [describeShadowed(name, shadowed)]),
    ...describeExpiry(name, expiresAt),
    ...describeLimits(name, one),
    ...describeStale(
      board.repos.filter((repo) => repo.forge === forge && repo.credential?.id === credential?.id && repo.stale),
    ),
    ...describeUnknown(
      board.pullRequests.filter(
        (row) => row.forge === forge && row.credential?.id === credential?.id && row.ciKnown === false,
      ).length,
      name,
    ),
    ...short
      .filter(({ resetsAt }) => Date.parse(resetsAt) > serverNow())
      .map(
        ({ kind, remaining, limit, resetsAt }) =>
          `${name} has ${format(remaining)} of ${format(limit)} ${kind}requests left until ${formatTime(Date.parse(resetsAt))}.`,
      ),
  ];
}

function describeLimits(name: string, { reading, truncated, repoCount }: Forge): string[] {
  const count = repoCount === 1 ? '1 repository' : `${format(repoCount)} repositories`;
  if (reading === true) return [`${name} is being read for the first time: ${count} so far. More rows follow.`];
  if (!truncated) return [];
  return [
    `${name} has more than 5,000 pull requests. Only 5,000 are read: yours, and those of the first repositories by name.`,
  ];
}

function describeHidden(name: string, { reason, url }: NonNullable<Forge['hidden']>): string {
  if (reason === 'organization_policy')
    return `${name} hides repositories of organizations that reject this kind of token, or the address of this server.`;
  const where = url === undefined ? `in its settings at ${name}` : `at ${url}`;
  return `${name} hides repositories of organizations that require single sign-on. Authorize the token ${where}.`;
}

function describeSearch(name: string, { reason }: NonNullable<Forge['incompleteSearch']>): string {
  return reason === 'limit'
    ? `${name} has more of your pull requests in repositories of others than are read. Some are missing.`
    : `${name} could not search for your pull requests in repositories of others. They may be outdated or missing.`;
}

const describeShadowed = (name: string, count: number): string =>
  count === 1
    ? `${name} has a repository with the same name as one on a different server. It is not listed.`
    : `${name} has ${format(count)} repositories with the same names as on a different server. They are not listed.`;

/** How long before its end a token is announced to expire. */
const EXPIRES_SOON_MS = 7 * 86_400_000;

function describeExpiry(name: string, expiresAt: string | undefined): string[] {
  const left = Date.parse(expiresAt ?? '') - serverNow();
  return left > 0 && left < EXPIRES_SOON_MS
    ? [`The ${name} token expires on ${formatDateTime(expiresAt ?? '')}. Replace it in the settings.`]
    : [];
}

/** Further names are counted. */
const MAX_NAMED = 5;

function describeStale(repositories: Board['repos']): string[] {
  if (repositories.length === 0) return [];
  const named = repositories.slice(0, MAX_NAMED).map(({ fullName }) => fullName);
  const more = repositories.length > MAX_NAMED ? ` and ${repositories.length - MAX_NAMED} more` : '';
  return [`${named.join(', ')}${more} could not be read completely. Pull requests there may be outdated or missing.`];
}

const describeUnknown = (count: number, name: string): string[] =>
  count === 0
    ? []
    : [`${name}: CI unknown for ${format(count)} of the pull requests, because the token can’t read checks.`];

const format = (count: number): string => count.toLocaleString();

const describeMerge = ({ forge, fullName, number }: Board['autoMerged'][number]): string =>
  `${fullName} #${number} (${FORGE_NAMES[forge]}) was auto-merged.`;
