import { limitConcurrency } from '@trellis/core/concurrency';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData, toUserMessage } from '../../api.js';
import { ConfirmButton } from '../../ui/buttons.js';
import { showToast } from '../../ui/toasts.js';
import { changeRepository } from '../data/board-store.js';
import { describeRateLimit, rateLimitedUntil, recordRateLimit } from '../data/forge-rate-limits.js';
import type { Repository } from '../data/rows.js';

/** Performs one action on every listed repository that allows it, one after the other, and reports the result. */
export function RepositoryBulk({ repositories }: { readonly repositories: readonly Repository[] }) {
  const [progress, setProgress] = useState('');
  const run = async (name: string, list: readonly Repository[], act: (one: Repository) => Promise<void>) => {
    let failures = 0;
    for (const [index, one] of list.entries()) {
      setProgress(`${index + 1} of ${list.length} …`);
      await act(one).catch((error: unknown) => {
        failures += 1;
        showToast(`${one.fullName}: ${toUserMessage(error)}`, 'failed');
      });
    }
    setProgress('');
    showToast(`${name}: ${list.length - failures} of ${list.length} done.`);
  };
  const button = (name: string, verb: string, list: readonly Repository[], act: (one: Repository) => Promise<void>) => (
    <ConfirmButton
      question={`${verb} ${list.length === 1 ? '1 repository' : `${list.length} repositories`}?`}
      disabled={list.length === 0 || progress !== ''}
      onAct={() => run(name, list, act)}
    >
      {name} ({list.length})
    </ConfirmButton>
  );
  const pending = repositories.filter(
    ({ forge, hasWebhook, canManageWebhooks }) =>
      !hasWebhook && canManageWebhooks && rateLimitedUntil[forge].value === undefined,
  );
  return (
    <div class="toggles" role="group" aria-label="All listed repositories">
      {button('Set up webhooks', 'Set up webhooks for', pending, ensureWebhook)}
      {button(
        'Auto-update all',
        'Auto-update',
        repositories.filter(({ autoUpdateBranch }) => !autoUpdateBranch),
        (one) => setAutoUpdate(one, true),
      )}
      {button(
        'Turn off auto-update',
        'Turn off auto-update for',
        repositories.filter(({ autoUpdateBranch }) => autoUpdateBranch),
        (one) => setAutoUpdate(one, false),
      )}
      <span role="status" class="quiet">
        {progress}
      </span>
    </div>
  );
}

/**
 * Sets up the webhook of a repository.
 *
 * @throws Error without a request if the forge's rate limit is exceeded.
 */
export async function ensureWebhook({ forge, fullName }: Repository): Promise<void> {
  const until = rateLimitedUntil[forge].value;
  if (until !== undefined) throw new Error(describeRateLimit(forge, until));
  try {
    requireData(await dashboardClient.POST('/api/webhooks/ensure', { params: {}, body: { forge, fullName } }));
  } catch (error) {
    recordRateLimit(forge, error);
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
