import { limitConcurrency } from '../../../core/concurrency.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { changeRepository } from './board-store.js';
import { describeRateLimit, recordRateLimit, rateLimitedUntil } from './forge-rate-limits.js';
import type { Repository } from './repository-filter.js';

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
