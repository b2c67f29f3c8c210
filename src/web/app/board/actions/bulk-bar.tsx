import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../ui/buttons.js';
import { showError } from '../../ui/toasts.js';
import { findRateLimitLock } from '../data/forge-rate-limits.js';
import type { PullRequest } from '../data/rows.js';
import { ACTIONS, performAction, showOutcome } from './actions.js';

interface BulkBarProps {
  readonly chosen: readonly PullRequest[];
  /** Is called with the pull requests that stay selected. */
  readonly onDone: (left: readonly PullRequest[]) => void;
}

type ActionName = keyof typeof ACTIONS;

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
          showError(error, `${row.repo} #${row.number}`);
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
