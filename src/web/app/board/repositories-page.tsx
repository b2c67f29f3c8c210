import './board.css';
import { useSignal } from '@preact/signals';
import { limitConcurrency } from '@trellis/core/concurrency';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { useAddress } from '../ui/address.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { showError, showToast, showUndoToast, undoEach } from '../ui/toasts.js';
import { BoardHead, EmptyBoard, ForgeNotices, hasSource } from './board-head.js';
import { boardError, boardOwner, changeRepository, shownBoard } from './data/board-store.js';
import { useBoard } from './data/follow-board.js';
import { describeRateLimit, findRateLimitLock, rateLimitNoticeId, recordRateLimit } from './data/forge-rate-limits.js';
import { FORGE_NAMES, formatRepositoryName, type Repository } from './data/rows.js';
import {
  NO_REPOSITORY_FILTER,
  readRepositoryFilter,
  RepositoryFilters,
  selectRepositories,
} from './filter/repository-filters.js';
import { Pager, usePage } from './list/paging.js';

/** The repositories of the board with their webhooks, visibility and automation. */
export function RepositoriesPage() {
  useBoard(true);
  const board = shownBoard.value;
  return (
    <>
      <BoardHead title="Repositories" />
      <p class="quiet">
        With a webhook, changes appear instantly; otherwise at the next refresh. <a href="/">Pull requests</a>
      </p>
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet skeleton">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          {hasSource(board) ? (
            <RepositoryList repositories={board.repos} />
          ) : (
            <EmptyBoard board={board} rows="repositories" />
          )}
        </>
      )}
    </>
  );
}

const PAGE_SIZE = 50;

/** The filtered list of repositories with its bulk actions. */
function RepositoryList({ repositories }: { readonly repositories: readonly Repository[] }) {
  const state = useSignal(NO_REPOSITORY_FILTER);
  const filter = state.value;
  useAddress(state, NO_REPOSITORY_FILTER, readRepositoryFilter);
  const found = selectRepositories(repositories, filter);
  const paged = usePage(found, PAGE_SIZE, JSON.stringify(filter));
  const isReadOnly = boardOwner.value !== '';
  return (
    <>
      <RepositoryFilters filter={filter} onFilter={(change) => (state.value = { ...filter, ...change })} />
      <p class="quiet" role="status">
        {found.length} of {repositories.length} match
      </p>
      {!isReadOnly && <RepositoryBulk repositories={found} />}
      {!isReadOnly && found.some(isWithoutWebhook) && (
        <p class="notes">
          Tokens without <a href="/settings">the permission for webhooks</a> can’t set them up. Add those webhooks at
          the code host.
        </p>
      )}
      <ul class="pulls repositories">
        {paged.rows.map((one) => (
          <RepositoryRow key={formatRepositoryName(one)} repository={one} isReadOnly={isReadOnly} />
        ))}
      </ul>
      <Pager {...paged} />
    </>
  );
}

interface RepositoryRowProps {
  readonly repository: Repository;
  readonly isReadOnly: boolean;
}

/** One repository: its webhook, what the board shows of it, and its automation. */
function RepositoryRow({ repository, isReadOnly }: RepositoryRowProps) {
  const { forge, fullName, url, yoursOnly } = repository;
  return (
    <li class="pull repository">
      <div class="about">
        <div class="title">
          <a class="open" href={url} target="_blank" rel="noreferrer">
            {fullName}
          </a>
        </div>
        <div class="where quiet">
          {FORGE_NAMES[forge]}
          {yoursOnly && ' · your pull requests only'}
        </div>
      </div>
      {!isReadOnly && !yoursOnly && <Webhook repository={repository} />}
      {!isReadOnly && <Choices repository={repository} />}
    </li>
  );
}

const isWithoutWebhook = ({ hasWebhook, canManageWebhooks, yoursOnly }: Repository): boolean =>
  !hasWebhook && !canManageWebhooks && yoursOnly !== true;

function Webhook({ repository }: Omit<RepositoryRowProps, 'isReadOnly'>) {
  const { forge, fullName, hasWebhook, canManageWebhooks } = repository;
  if (hasWebhook) return <span class="hook good">Webhook active</span>;
  if (!canManageWebhooks) {
    return <span class="hook quiet">No webhook, and no permission to set it up</span>;
  }
  const isLocked = findRateLimitLock(repository) !== undefined;
  const ensure = async (): Promise<void> => {
    if (isLocked) return;
    await ensureWebhook(repository);
    showToast(
      `Webhook for ${fullName} set up. It shows as active after the first delivery from ${FORGE_NAMES[forge]}.`,
    );
  };
  return (
    <span class="hook">
      <ActionButton
        aria-label={`Set up webhook for ${fullName}`}
        aria-disabled={isLocked}
        aria-describedby={isLocked ? rateLimitNoticeId(repository) : undefined}
        onAct={ensure}
      >
        Set up webhook
      </ActionButton>
    </span>
  );
}

/** The checkboxes of a repository; each change is saved at once. */
function Choices({ repository }: Omit<RepositoryRowProps, 'isReadOnly'>) {
  const { fullName, ignoredPRs, ignoredIssues, autoUpdateBranch } = repository;
  const change = (work: Promise<void>): void => void work.catch((error: unknown) => showError(error));
  const ignore = (prs: boolean, issues: boolean): void =>
    change(
      setIgnored(repository, prs, issues).then(() => {
        const about = `The settings of ${repository.fullName}`;
        const before = [repository.ignoredPRs, repository.ignoredIssues] as const;
        showUndoToast(`${repository.fullName}: ${describeHidden(prs, issues)}.`, `${about} are as before.`, async () =>
          setIgnored(repository, ...before),
        );
      }),
    );
  const box = (name: string, isOn: boolean, onToggle: (isOn: boolean) => void) => (
    <label class="choice">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onToggle(currentTarget.checked)} />
      <span>
        {name} <span class="aside">of {fullName}</span>
      </span>
    </label>
  );
  return (
    <div class="toggles">
      {box('Pull requests', !ignoredPRs, (isOn) => ignore(!isOn, ignoredIssues))}
      {box('Issues', !ignoredIssues, (isOn) => ignore(ignoredPRs, !isOn))}
      {box('Auto-update branches', autoUpdateBranch, (isOn) => change(setAutoUpdate(repository, isOn)))}
    </div>
  );
}

function describeHidden(prs: boolean, issues: boolean): string {
  if (prs && issues) return 'pull requests and issues are hidden';
  if (!prs && !issues) return 'nothing is hidden';
  return prs ? 'pull requests are hidden' : 'issues are hidden';
}

interface BulkAction {
  readonly name: string;
  readonly list: readonly Repository[];
  readonly act: (one: Repository) => Promise<void>;
  /** Undoes the action. Without it, the action asks for a confirmation. */
  readonly undo?: (one: Repository) => Promise<void>;
}

const toCount = (list: readonly Repository[]): string =>
  list.length === 1 ? '1 repository' : `${list.length} repositories`;

/** Performs one action on every listed repository that allows it, one after the other, and reports the result. */
function RepositoryBulk({ repositories }: { readonly repositories: readonly Repository[] }) {
  const [progress, setProgress] = useState('');
  const run = async ({ name, list, act, undo }: BulkAction): Promise<void> => {
    const done: Repository[] = [];
    for (const [index, one] of list.entries()) {
      setProgress(`${index + 1} of ${list.length} …`);
      await act(one).then(
        () => done.push(one),
        (error: unknown) => showError(error, one.fullName),
      );
    }
    setProgress('');
    const text = `${name}: ${done.length} of ${list.length} done.`;
    if (undo === undefined || done.length === 0) showToast(text);
    else showUndoToast(text, `Undone: ${toCount(done)}.`, () => undoEach(done, undo, ({ fullName }) => fullName));
  };
  const button = (action: BulkAction) => (
    <ConfirmButton
      question={action.undo === undefined ? `${action.name} for ${toCount(action.list)}?` : undefined}
      disabled={action.list.length === 0 || progress !== ''}
      onAct={() => run(action)}
    >
      {action.name} ({action.list.length})
    </ConfirmButton>
  );
  const turn = (isOn: boolean) => ({
    list: repositories.filter(({ autoUpdateBranch }) => autoUpdateBranch !== isOn),
    act: (one: Repository) => setAutoUpdate(one, isOn),
    undo: (one: Repository) => setAutoUpdate(one, !isOn),
  });
  const pending = repositories.filter(
    (one) => !one.hasWebhook && one.canManageWebhooks && findRateLimitLock(one) === undefined,
  );
  return (
    <div class="toggles" role="group" aria-label="All listed repositories">
      {button({ name: 'Set up webhooks', list: pending, act: ensureWebhook })}
      {button({ name: 'Auto-update all', ...turn(true) })}
      {button({ name: 'Turn off auto-update', ...turn(false) })}
      <span role="status" class="quiet">
        {progress}
      </span>
    </div>
  );
}

/**
 * Sets up the webhook of a repository.
 *
 * @throws Error without a request if the credential's rate limit is exceeded.
 */
async function ensureWebhook(repository: Repository): Promise<void> {
  const { forge, fullName } = repository;
  const lock = findRateLimitLock(repository);
  if (lock !== undefined) throw new Error(describeRateLimit(lock));
  try {
    requireData(await dashboardClient.POST('/api/webhooks/ensure', { params: {}, body: { forge, fullName } }));
  } catch (error) {
    recordRateLimit(repository, error);
    throw error;
  }
}

/** Turns automatic branch updates of a repository on or off. */
async function setAutoUpdate(repository: Repository, isOn: boolean): Promise<void> {
  const path = isOn ? '/api/repos/auto-update-branch/enable' : '/api/repos/auto-update-branch/disable';
  const { forge, fullName } = repository;
  await changeShown(repository, { autoUpdateBranch: isOn }, async () =>
    requireData(await dashboardClient.POST(path, { body: { forge, fullName } })),
  );
}

/** Hides the pull requests, the issues or both of a repository from the board. */
async function setIgnored(repository: Repository, prs: boolean, issues: boolean): Promise<void> {
  const { forge, fullName } = repository;
  const next = { ignoredPRs: prs, ignoredIssues: issues, ignored: prs || issues };
  await changeShown(repository, next, async () =>
    requireData(
      prs || issues
        ? await dashboardClient.POST('/api/repos/ignore', { body: { forge, fullName, prs, issues } })
        : await dashboardClient.POST('/api/repos/unignore', { body: { forge, fullName } }),
    ),
  );
}

/** Sends one request at a time, so that the last change is stored last. */
const sendInTurn = limitConcurrency(1);

/** Shows a change at once and reverts it if the request fails. */
async function changeShown(
  repository: Repository,
  next: Partial<Repository>,
  send: () => Promise<unknown>,
): Promise<void> {
  changeRepository(repository, next);
  try {
    await sendInTurn(send);
  } catch (error) {
    changeRepository(repository, repository);
    throw error;
  }
}
