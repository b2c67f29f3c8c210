import type { ActionRefusal } from '../../errors.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import { refuse } from './refusals.js';

/** @throws AppError `conflict` with the reason, if the board does not allow the action. */
export function requireOffered(row: PullRequest, action: ActionName): void {
  const offered = row.allowedActions.find((one) => one.action === action);
  if (offered?.blocked !== undefined) throw refuse(offered.blocked.code, offered.blocked.message);
  if (offered === undefined) throw (REASONS[action] ?? unexplained)(row);
}

/** The reasons why a board omits an action, in the order of the rules. */
const REASONS: Readonly<Partial<Record<ActionName, (row: PullRequest) => Error>>> = {
  auto_merge: (row) => refuse(findAutoMergeCode(row)),
  update_branch: ({ behind, empty }) =>
    !behind || empty
      ? refuse('already_up_to_date')
      : refuse('unknown', 'A bot maintains this branch. Ask the bot to rebase it.'),
  rerun_checks: ({ ci }) => (ci === 'pending' ? refuse('checks_pending') : refuse('unknown', 'No check has failed.')),
  dependabot_rebase: () => refuse('unknown', 'This pull request is not from Dependabot.'),
  dependabot_recreate: () => refuse('unknown', 'This pull request is not from Dependabot.'),
  renovate_rebase: () => refuse('unknown', 'This pull request is not from Renovate.'),
};

function unexplained(): Error {
  return refuse('unknown', 'This action is not available for this pull request.');
}

function findAutoMergeCode(row: PullRequest): ActionRefusal['code'] {
  if (row.autoMergeAllowed === false) return 'auto_merge_not_allowed';
  if (row.empty) return 'already_up_to_date';
  if (row.mergeStatus === 'conflicting') return 'conflict';
  if (row.stackedOn !== null) return 'stacked';
  return row.draft ? 'not_mergeable' : 'ready_to_merge';
}
