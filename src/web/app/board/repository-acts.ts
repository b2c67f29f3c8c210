import { inTurn } from '../../../in-turn.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { changeRepository } from './board-store.js';
import { describeLock, learnLock, LOCKS } from './forge-locks.js';
import type { Repository } from './repository-filter.js';

/** Has a forge tell of a repository from now on. One that takes no more requests is not asked in vain. */
export async function ensureWebhook({ forge, fullName }: Repository): Promise<void> {
  const until = LOCKS[forge].value;
  if (until !== undefined) throw new Error(describeLock(forge, until));
  try {
    requireAnswer(await dashboard.POST('/api/webhooks/ensure', { params: {}, body: { forge, fullName } }));
  } catch (error) {
    learnLock(forge, error);
    throw error;
  }
}

/** Has branches that fall behind be updated, or not any more. */
export async function setAutoUpdate(repository: Repository, isOn: boolean): Promise<void> {
  const path = isOn ? '/api/repos/auto-update-branch/enable' : '/api/repos/auto-update-branch/disable';
  const { forge, fullName } = repository;
  await changeShown(repository, { autoUpdateBranch: isOn }, async () =>
    requireAnswer(await dashboard.POST(path, { body: { forge, fullName } })),
  );
}

/** Leaves its pull requests, its issues, or both off the board. */
export async function setIgnored(repository: Repository, prs: boolean, issues: boolean): Promise<void> {
  const { forge, fullName } = repository;
  const next = { ignoredPRs: prs, ignoredIssues: issues, ignored: prs || issues };
  await changeShown(repository, next, async () =>
    requireAnswer(
      prs || issues
        ? await dashboard.POST('/api/repos/ignore', { body: { forge, fullName, prs, issues } })
        : await dashboard.POST('/api/repos/unignore', { body: { forge, fullName } }),
    ),
  );
}

/** One after the other, so that what was ticked last is what stays. */
const sendInTurn = inTurn(1);

/** Shown at once, and as it was again when the server refuses. */
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
