import type { ActionRefusal } from '../../errors.js';
import type { ActionName, PullRequest } from '../forges/facts.js';
import { refuse } from './refusals.js';

/** @throws AppError `conflict` with the reason, when the board says that it can't be done. */
export function requireOffered(row: PullRequest, action: ActionName): void {
  const offered = row.allowedActions.find((one) => one.action === action);
  if (offered?.blocked !== undefined) throw refuse(offered.blocked.code, offered.blocked.message);
  if (offered === undefined) throw (EXPLAINED[action] ?? explainNothing)(row);
}

/** The reasons for which a board leaves an action out, in the order of the rules. */
const EXPLAINED: Readonly<Partial<Record<ActionName, (row: PullRequest) => Error>>> = {
  auto_merge: (row) => refuse(findAutoMergeCode(row)),
  update_branch: ({ behind, empty }) =>
    !behind || empty ? refuse('already_up_to_date') : refuse('unknown', 'A bot keeps its branch; ask that to rebase.'),
  rerun_checks: ({ ci }) =>
    ci === 'pending' ? refuse('checks_pending') : refuse('unknown', 'None of its checks has failed.'),
  dependabot_rebase: () => refuse('unknown', 'It is not one of Dependabot.'),
  dependabot_recreate: () => refuse('unknown', 'It is not one of Dependabot.'),
  renovate_rebase: () => refuse('unknown', 'It is not one of Renovate.'),
};

function explainNothing(): Error {
  return refuse('unknown', 'It can not be done to this pull request.');
}

function findAutoMergeCode(row: PullRequest): ActionRefusal['code'] {
  if (row.autoMergeAllowed === false) return 'auto_merge_not_allowed';
  if (row.empty) return 'already_up_to_date';
  if (row.mergeStatus === 'conflicting') return 'conflict';
  if (row.stackedOn !== null) return 'stacked';
  return row.draft ? 'not_mergeable' : 'ready_to_merge';
}
