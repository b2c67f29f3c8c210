import type { RefusalCode } from '../forge-error.js';
import type { ActionName } from '../facts.js';
import { findMergeBlock } from './allowed-actions.js';
import type { BlockCode, Judged } from './allowed-actions.js';

/** Says of a pull request, as it is after a forge refused, what may have been the reason. */
export function explainRefusal(action: ActionName, one: Judged): RefusalCode {
  return EXPLAINED[action]?.(one) ?? 'unknown';
}

type Explain = (one: Judged) => RefusalCode | undefined;

const conflict: Explain = ({ mergeStatus }) => (mergeStatus === 'conflicting' ? 'conflict' : undefined);

/** A protected base may refuse for what it doesn't tell. */
const mergeBlock: Explain = (one): BlockCode | undefined => findMergeBlock(one);

const EXPLAINED: Partial<Readonly<Record<ActionName, Explain>>> = {
  merge: mergeBlock,
  update_branch: (one) => conflict(one) ?? (one.behind ? undefined : 'already_up_to_date'),
  auto_merge: (one) => {
    if (one.autoMergeAllowed === false) return 'auto_merge_not_allowed';
    return conflict(one) ?? (findMergeBlock(one) === undefined ? 'ready_to_merge' : undefined);
  },
};
