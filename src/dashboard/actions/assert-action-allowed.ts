import type { ActionErrorDetails } from '../../core/errors.js';
import type { ActionName, PullRequest } from '../forges/forge.js';
import { actionConflict } from './action-errors.js';

/** @throws AppError `conflict` with the reason, if the board does not allow the action. */
export function assertActionAllowed(row: PullRequest, action: ActionName): void {
  const offered = row.allowedActions.find((one) => one.action === action);
  if (offered?.blocked !== undefined) throw actionConflict(offered.blocked.code, offered.blocked.message);
  if (offered === undefined) throw (REASONS[action] ?? unexplained)(row);
}

/** The reasons why a board omits an action, in the order of the rules. */
const REASONS: Readonly<Partial<Record<ActionName, (row: PullRequest) => Error>>> = {
  auto_merge: (row) => actionConflict(findAutoMergeCode(row)),
  update_branch: ({ behind, empty }) =>
    !behind || empty
      ? actionConflict('already_up_to_date')
      : actionConflict('unknown', 'A bot maintains this branch. Ask the bot to rebase it.'),
  rerun_checks: ({ ci }) =>
    ci === 'pending' ? actionConflict('checks_pending') : actionConflict('unknown', 'No check has failed.'),
  dependabot_rebase: () => actionConflict('unknown', 'This pull request is not from Dependabot.'),
  dependabot_recreate: () => actionConflict('unknown', 'This pull request is not from Dependabot.'),
  renovate_rebase: () => actionConflict('unknown', 'This pull request is not from Renovate.'),
};

function unexplained(): Error {
  return actionConflict('unknown', 'This action is not available for this pull request.');
}

function findAutoMergeCode(row: PullRequest): ActionErrorDetails['code'] {
  if (row.autoMergeAllowed === false) return 'auto_merge_not_allowed';
  if (row.empty) return 'already_up_to_date';
  if (row.mergeStatus === 'conflicting') return 'conflict';
  if (row.stackedOn !== null) return 'stacked';
  return row.draft ? 'not_mergeable' : 'ready_to_merge';
}
