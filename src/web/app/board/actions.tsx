import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { ConfirmButton } from '../ui/buttons.js';
import { showError, showToast, showUndoToast, undoEach } from '../ui/toasts.js';
import { removeRow } from './data/board-store.js';
import { findRateLimitLock, recordRateLimit } from './data/forge-rate-limits.js';
import { type PullRequest, toCommit, toTarget } from './data/rows.js';

type AllowedAction = PullRequest['allowedActions'][number];
type ActionName = AllowedAction['action'];

export interface Action {
  readonly name: string;
  /** The start of the confirmation, which a target completes: "Merge", as in "Merge 7 pull requests?". */
  readonly verb: string;
  /** The end of the success message, which starts with the pull request. */
  readonly done: string;
  readonly send: (row: PullRequest) => Promise<unknown>;
  /** The action that undoes it. Such an action needs no confirmation. */
  readonly undo?: 'auto_merge' | 'cancel_auto_merge';
  /** Whether the action removes the pull request from the board. */
  readonly ends?: boolean;
}

const post =
  (path: SimplePath) =>
  async (row: PullRequest): Promise<unknown> =>
    requireData(await dashboardClient.POST(path, { params: {}, body: toCommit(row) }));

type SimplePath = `/api/pull-requests/${
  | 'auto-merge'
  | 'auto-merge/cancel'
  | 'close'
  | 'merge'
  | 'merge-queue'
  | 'merge-queue/leave'
  | 'renovate-rebase'
  | 'rerun-checks'
  | 'update-branch'}`;

const sendDependabotAction =
  (action: 'rebase' | 'recreate') =>
  async (row: PullRequest): Promise<unknown> =>
    requireData(
      await dashboardClient.POST('/api/pull-requests/dependabot-action', {
        params: {},
        body: { ...toTarget(row), action },
      }),
    );

const mergeBy =
  (method: 'rebase' | 'squash') =>
  async (row: PullRequest): Promise<unknown> =>
    requireData(
      await dashboardClient.POST('/api/pull-requests/merge', { params: {}, body: { ...toCommit(row), method } }),
    );

/** Lists the merges by a method that is not the first one of the repository. GitLab chooses between the others itself. */
export const listMergeMethods = ({ forge, allowedActions }: PullRequest): readonly Action[] =>
  allowedActions.some(({ action, blocked }) => action === 'merge' && blocked === undefined)
    ? MERGE_METHODS.filter(({ name }) => forge !== 'gitlab' || name === 'Merge: squash')
    : [];

const MERGE_METHODS: readonly Action[] = [
  { name: 'Merge: squash', verb: 'Squash and merge', done: 'was merged', send: mergeBy('squash'), ends: true },
  { name: 'Merge: rebase', verb: 'Rebase and merge', done: 'was merged', send: mergeBy('rebase'), ends: true },
];

/** The actions that pages offer, in the order of their buttons. */
export const ACTIONS: Readonly<Partial<Record<ActionName, Action>>> = {
  merge: {
    name: 'Merge',
    verb: 'Merge',
    done: 'was merged',
    send: post('/api/pull-requests/merge'),
    ends: true,
  },
  enqueue: {
    name: 'Add to merge queue',
    verb: 'Enqueue',
    done: 'is in the merge queue',
    send: post('/api/pull-requests/merge-queue'),
  },
  dequeue: {
    name: 'Leave merge queue',
    verb: 'Dequeue',
    done: 'is no longer in the merge queue',
    send: post('/api/pull-requests/merge-queue/leave'),
  },
  auto_merge: {
    name: 'Merge when ready',
    verb: 'Enable auto-merge for',
    done: 'will be merged when it is ready',
    send: post('/api/pull-requests/auto-merge'),
    undo: 'cancel_auto_merge',
  },
  cancel_auto_merge: {
    name: 'Cancel auto-merge',
    verb: 'Cancel auto-merge of',
    done: 'is no longer set to auto-merge',
    send: post('/api/pull-requests/auto-merge/cancel'),
    undo: 'auto_merge',
  },
  update_branch: {
    name: 'Update branch',
    verb: 'Update',
    done: 'is being updated',
    send: post('/api/pull-requests/update-branch'),
  },
  rerun_checks: {
    name: 'Rerun checks',
    verb: 'Rerun checks of',
    done: 'is rerunning its failed checks',
    send: post('/api/pull-requests/rerun-checks'),
  },
  dependabot_rebase: {
    name: 'Dependabot: rebase',
    verb: 'Ask Dependabot to rebase',
    done: 'will be rebased by Dependabot',
    send: sendDependabotAction('rebase'),
  },
  dependabot_recreate: {
    name: 'Dependabot: recreate',
    verb: 'Ask Dependabot to recreate',
    done: 'will be recreated by Dependabot',
    send: sendDependabotAction('recreate'),
  },
  renovate_rebase: {
    name: 'Renovate: rebase',
    verb: 'Ask Renovate to rebase',
    done: 'will be rebased by Renovate',
    send: post('/api/pull-requests/renovate-rebase'),
  },
  close: {
    name: 'Close',
    verb: 'Close',
    done: 'was closed',
    send: post('/api/pull-requests/close'),
    ends: true,
  },
};

/**
 * Performs an action on a pull request and returns the success message.
 *
 * @throws ApiError with the server's reason.
 */
export async function performAction(row: PullRequest, { send, done, ends = false }: Action): Promise<string> {
  await send(row).catch((error: unknown) => {
    recordRateLimit(row, error);
    throw error;
  });
  if (ends) removeRow(row);
  return `${toName(row)} ${done}.`;
}

/** Shows the outcome of an action on pull requests, with a button that undoes it where that is possible. */
export function showOutcome(rows: readonly PullRequest[], { undo }: Action, text: string): void {
  const reverse = undo === undefined ? undefined : ACTIONS[undo];
  if (reverse === undefined || rows.length === 0) {
    showToast(text);
    return;
  }
  const [first] = rows;
  const about = rows.length === 1 && first ? toName(first) : `${rows.length} pull requests`;
  showUndoToast(text, `Undone: ${about}.`, () => undoEach(rows, (row) => performAction(row, reverse), toName));
}

const toName = ({ repo, number }: PullRequest): string => `${repo} #${number}`;

interface BulkBarProps {
  readonly chosen: readonly PullRequest[];
  /** Is called with the pull requests that stay selected. */
  readonly onDone: (left: readonly PullRequest[]) => void;
}

/**
 * Performs one action on every selected pull request that allows it, one after the other, and reports the result. Those
 * that failed stay selected.
 */
export function BulkBar({ chosen, onDone }: BulkBarProps) {
  const [progress, setProgress] = useState('');
  const possible = (Object.keys(ACTIONS) as ActionName[]).filter((name) => chosen.some((row) => allows(row, name)));
  const run = async (name: ActionName): Promise<void> => {
    const action = ACTIONS[name];
    if (action === undefined) return;
    const rows = chosen.filter((row) => allows(row, name));
    const failed: PullRequest[] = [];
    const done: PullRequest[] = [];
    for (const [index, row] of rows.entries()) {
      setProgress(`${index + 1} of ${rows.length} …`);
      await performAction(row, action).then(
        () => done.push(row),
        (error: unknown) => {
          failed.push(row);
          showError(error, toName(row));
        },
      );
    }
    setProgress('');
    showOutcome(done, action, `${action.name}: ${done.length} of ${rows.length} done.`);
    onDone(failed);
  };
  if (chosen.length === 0) return null;
  return (
    <div class="bulk" role="region" aria-label="Selected pull requests">
      <span aria-live="polite">{progress || `${chosen.length} selected`}</span>
      {possible.map((name) => {
        const count = chosen.filter((row) => allows(row, name)).length;
        return (
          <ConfirmButton
            key={name}
            question={ACTIONS[name]?.undo === undefined ? `${ACTIONS[name]?.verb} ${toCount(count)}?` : undefined}
            onAct={() => run(name)}
          >
            {ACTIONS[name]?.name} ({count})
          </ConfirmButton>
        );
      })}
      {possible.length === 0 && progress === '' && <span>No action is available for this selection.</span>}
      <button type="button" onClick={() => onDone([])}>
        Clear selection
      </button>
    </div>
  );
}

const toCount = (count: number): string => (count === 1 ? '1 pull request' : `${count} pull requests`);

const allows = (row: PullRequest, name: ActionName): boolean =>
  findRateLimitLock(row) === undefined &&
  row.allowedActions.some(({ action, blocked }) => action === name && blocked === undefined);
