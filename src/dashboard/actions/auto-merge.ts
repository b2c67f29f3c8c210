/** The state of auto-merges, for forges without an auto-merge API. */
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { PullRequest } from '../forges/forge.js';
import type { ForgeError } from '../forges/forge-error.js';
import { saveState } from './state-entries.js';
import type { PullRequestAddress } from './state-entries.js';
import { toActionCode, messageFor } from './action-errors.js';

type AutoMerge = components['schemas']['AutoMerge'];

/** A requested auto-merge, with the result of the last attempt. */
export interface AutoMergeState extends AutoMerge {
  /** In the forge's own spelling; the stored row has it in lower case. */
  readonly fullName: string;
  /** The `updatedAt` of the pull request at the last attempt. There is no further attempt until it changes. */
  readonly triedFor?: string | undefined;
  /** When to try again even without a change, in milliseconds, because the forge did not decide on the last attempt. */
  readonly retryAt?: number | undefined;
  /** When the forge was last asked for the pull request while it was missing from the board, in milliseconds. */
  readonly lookedAt?: number | undefined;
}

const RETRY_MS = 300_000;

const WAITING: AutoMerge = {
  state: 'waiting',
  message: 'Trellis merges it once its checks pass and nothing else blocks it.',
};

export async function enableAutoMerge(database: Database, address: PullRequestAddress): Promise<void> {
  const state: AutoMergeState = { ...WAITING, fullName: address.fullName };
  await saveState(database, address, { kind: 'auto_merge', state });
}

/** Returns whether to merge now. A pull request without checks is never due. */
export function isMergeDue({ triedFor, retryAt }: AutoMergeState, row: PullRequest, at: number): boolean {
  const { ci, mergeStatus, draft, empty, stackedOn } = row;
  const isReady = ci === 'success' && mergeStatus === 'mergeable' && !draft && !empty && stackedOn === null;
  if (!isReady || (retryAt !== undefined && at < retryAt)) return false;
  return retryAt !== undefined || triedFor !== row.updatedAt;
}

/** Returns the state to save before an attempt. After a crash, it leads to a retry, which first checks the outcome. */
export function toAttemptState({ repo: fullName, updatedAt: triedFor }: PullRequest, at: number): AutoMergeState {
  return { ...WAITING, fullName, triedFor, retryAt: at + RETRY_MS };
}

const UNDECIDED: ReadonlySet<ForgeError['kind']> = new Set([
  ...(['rate_limited', 'unreachable', 'address_refused', 'unknown'] as const),
]);

/** Returns the state after an error: retry if the forge did not decide, else stop until the pull request changes. */
export function toStoppedState(error: ForgeError, row: PullRequest, at: number): AutoMergeState {
  const { kind, resetsAt = 0, refusal } = error;
  const code = refusal ?? toActionCode(kind);
  const isUndecided = UNDECIDED.has(kind);
  if (isUndecided) return { ...toAttemptState(row, at), retryAt: Math.max(at + RETRY_MS, resetsAt) };
  const { repo: fullName, updatedAt: triedFor } = row;
  return { state: 'stopped', code, message: messageFor(code, kind), fullName, triedFor };
}

/** Returns the waiting state if the pull request has changed since a stop, else the same object. */
export function toResumedState(state: AutoMergeState, { updatedAt }: PullRequest): AutoMergeState {
  return state.state === 'waiting' || state.triedFor === updatedAt ? state : { ...WAITING, fullName: state.fullName };
}

/** Returns whether to ask the forge for a pull request that is missing from the board. */
export function isAbsentFromBoard({ lookedAt = 0 }: AutoMergeState, at: number): boolean {
  return at - lookedAt >= RETRY_MS;
}
