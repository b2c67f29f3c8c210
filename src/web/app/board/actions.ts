import { ApiError } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { removeRow } from './board-store.js';
import { learnLock } from './forge-locks.js';
import { targetOf } from './rows.js';
import type { PullRequest } from './rows.js';

type AllowedAction = PullRequest['allowedActions'][number];
type ActionName = AllowedAction['action'];

interface Action {
  readonly name: string;
  /** What the button asks before it is done. */
  readonly question: string;
  /** What is said afterwards. */
  readonly done: string;
  readonly send: (row: PullRequest) => Promise<unknown>;
  /** The row is gone once it is done. */
  readonly ends?: boolean;
}

const post =
  (path: SimplePath) =>
  async (row: PullRequest): Promise<unknown> =>
    requireAnswer(await dashboard.POST(path, { params: {}, body: targetOf(row) }));

type SimplePath = `/api/pull-requests/${
  'auto-merge' | 'auto-merge/cancel' | 'close' | 'merge' | 'renovate-rebase' | 'rerun-checks' | 'update-branch'}`;

const askDependabot =
  (action: 'rebase' | 'recreate') =>
  async (row: PullRequest): Promise<unknown> =>
    requireAnswer(
      await dashboard.POST('/api/pull-requests/dependabot-action', { params: {}, body: { ...targetOf(row), action } }),
    );

/** What the server may allow, in the order of the buttons. An action that is not here can't be offered. */
export const ACTIONS: Readonly<Partial<Record<ActionName, Action>>> = {
  merge: {
    name: 'Merge',
    question: 'Really merge?',
    done: 'is merged',
    send: post('/api/pull-requests/merge'),
    ends: true,
  },
  auto_merge: {
    name: 'Merge when ready',
    question: 'Merge by itself?',
    done: 'is merged once it can be',
    send: post('/api/pull-requests/auto-merge'),
  },
  cancel_auto_merge: {
    name: 'Cancel auto-merge',
    question: 'Really cancel?',
    done: 'is not merged by itself any more',
    send: post('/api/pull-requests/auto-merge/cancel'),
  },
  update_branch: {
    name: 'Update branch',
    question: 'Really update?',
    done: 'is being brought up to date',
    send: post('/api/pull-requests/update-branch'),
  },
  rerun_checks: {
    name: 'Run checks again',
    question: 'Really run?',
    done: 'has its failed checks run again',
    send: post('/api/pull-requests/rerun-checks'),
  },
  dependabot_rebase: {
    name: 'Dependabot: rebase',
    question: 'Really ask it?',
    done: 'is to be rebased by Dependabot',
    send: askDependabot('rebase'),
  },
  dependabot_recreate: {
    name: 'Dependabot: recreate',
    question: 'Really ask it?',
    done: 'is to be made anew by Dependabot',
    send: askDependabot('recreate'),
  },
  renovate_rebase: {
    name: 'Renovate: rebase',
    question: 'Really ask it?',
    done: 'is to be rebased by Renovate',
    send: post('/api/pull-requests/renovate-rebase'),
  },
  close: {
    name: 'Close',
    question: 'Really close?',
    done: 'is closed',
    send: post('/api/pull-requests/close'),
    ends: true,
  },
};

/** Does it once; gives the sentence to show. Throws the server's reason when it refuses. */
export async function act(row: PullRequest, { send, done, ends = false }: Action): Promise<string> {
  await send(row).catch((error: unknown) => {
    learnLock(row.forge, error);
    throw error;
  });
  if (ends) removeRow(row);
  return `${row.repo} #${row.number} ${done}.`;
}

/** Whether the same request may fare better: what could not be reached may be there again, what was refused is refused again. */
export const canRetry = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.statusCode === 429 || error.statusCode >= 500;
