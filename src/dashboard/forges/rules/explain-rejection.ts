import type { ActionErrorCode } from '../forge-error.js';
import type { ActionName } from '../model.js';
import { findMergeBlock } from './allowed-actions.js';
import type { BlockCode, ActionCandidate } from './allowed-actions.js';

/** Derives why the forge rejected an action from the state of the pull request after it. */
export function explainRejection(action: ActionName, pullRequest: ActionCandidate): ActionErrorCode {
  return EXPLAINED[action]?.(pullRequest) ?? 'unknown';
}

type Explain = (pullRequest: ActionCandidate) => ActionErrorCode | undefined;

const conflict: Explain = ({ mergeStatus }) => (mergeStatus === 'conflicting' ? 'conflict' : undefined);

const mergeBlock: Explain = (pullRequest): BlockCode | undefined => findMergeBlock(pullRequest);

const EXPLAINED: Partial<Readonly<Record<ActionName, Explain>>> = {
  merge: mergeBlock,
  update_branch: (pullRequest) => conflict(pullRequest) ?? (pullRequest.behind ? undefined : 'already_up_to_date'),
  auto_merge: (pullRequest) => {
    if (pullRequest.autoMergeAllowed === false) return 'auto_merge_not_allowed';
    return conflict(pullRequest) ?? (findMergeBlock(pullRequest) === undefined ? 'ready_to_merge' : undefined);
  },
};
