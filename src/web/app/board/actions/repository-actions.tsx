import { limitConcurrency } from '@trellis/core/concurrency';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../../api.js';
import { ConfirmButton } from '../../ui/buttons.js';
import { showError, showToast, showUndoToast } from '../../ui/toasts.js';
import { changeRepository } from '../data/board-store.js';
import { describeRateLimit, findRateLimitLock, recordRateLimit } from '../data/forge-rate-limits.js';
import type { Repository } from '../data/rows.js';

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
export function RepositoryBulk({ repositories }: { readonly repositories: readonly Repository[] }) {
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
    else showUndoToast(text, `Undone: ${toCount(done)}.`, async () => Promise.all(done.map(undo)));
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
export async function ensureWebhook(repository: Repository): Promise<void> {
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
export async function setAutoUpdate(repository: Repository, isOn: boolean): Promise<void> {
  const path = isOn ? '/api/repos/auto-update-branch/enable' : '/api/repos/auto-update-branch/disable';
  const { forge, fullName } = repository;
  await changeShown(repository, { autoUpdateBranch: isOn }, async () =>
    requireData(await dashboardClient.POST(path, { body: { forge, fullName } })),
  );
}

/** Hides the pull requests, the issues or both of a repository from the board. */
export async function setIgnored(repository: Repository, prs: boolean, issues: boolean): Promise<void> {
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
