/** Automatic branch updates. Their decisions are cautious, because no user supervises them. */
import type { ForgeError } from '../forges/forge-error.js';
import type { ActionName, PullRequest } from '../forges/forge.js';
import { isPending, saveActionEffect } from './effects.js';
import { ActionNotDueError, type AutomationInput, sendAutomaticAction } from './send-action-once.js';
import { findState, saveState, updateState } from './state-entries.js';

/** Updates a branch that is behind its base, if an update is due. @returns whether the board changed. */
export async function runBranchUpdate(
  followed: AutomationInput,
  known: AutoUpdateState = INITIAL_UPDATE_STATE,
): Promise<boolean> {
  const { database, address, forge, row, now } = followed;
  const toMark = (state: AutoUpdateState) =>
    ({ kind: 'auto_update', state, expiresAt: toUpdateStateExpiry(now()) }) as const;
  const state = toRefreshedState(known, row);
  if (state !== known) await updateState(database, address, toMark(state));
  const action = findDueUpdate(state, row, now());
  if (action === undefined || !forge.actions.includes(action)) return false;
  let sent = state;
  const outcome = await sendAutomaticAction(followed, action, {
    async assertDue() {
      const found = await findState(database, address, { kind: 'auto_update', at: now() });
      // The cast is safe: the kind of the entry determines its type.
      const newest = toRefreshedState((found as AutoUpdateState | undefined) ?? INITIAL_UPDATE_STATE, row);
      if (findDueUpdate(newest, row, now()) !== action) throw new ActionNotDueError();
      sent = toSendingState(newest, row, { action, at: now() });
      await saveState(database, address, toMark(sent));
    },
    saveEffect: (done) => saveActionEffect(database, { address, action, outcome: done, row, at: now() }),
  });
  if (typeof outcome === 'string') return outcome === 'sent';
  await updateState(database, address, toMark(toRejectedState(sent, outcome.refused, now())));
  return false;
}

export interface AutoUpdateState {
  /** The head commit for which an update was sent whose outcome is not visible yet; empty if it is. */
  readonly sentFor: string;
  /** The times of the updates that were sent in the last day, in milliseconds. */
  readonly sentAt: readonly number[];
  /** The end of the forge's rate limit, in milliseconds. Then the update may be sent again. */
  readonly retryAt?: number;
  /** The head commit that Dependabot was asked to rebase; removed once the checks of the rebased commit pass. */
  readonly watched?: string;
}

export const INITIAL_UPDATE_STATE: AutoUpdateState = { sentFor: '', sentAt: [] };

const DAY_MS = 86_400_000;
const RETRY_MS = 300_000;

/** Limits updates of branches whose base changes all day long. Users can update those by hand. */
const MAX_PER_DAY = 6;

const UPDATES: readonly ActionName[] = ['dependabot_rebase', 'renovate_rebase', 'update_branch'];

/** Returns the action to send, if any. No further action is due before the outcome of the last one is visible. */
export function findDueUpdate(state: AutoUpdateState, row: PullRequest, at: number): ActionName | undefined {
  if (row.headSha === '' || row.kind === 'release') return undefined;
  const { sentFor, sentAt, retryAt } = state;
  if (sentAt.filter((time) => time > at - DAY_MS).length >= MAX_PER_DAY) return undefined;
  if (hasFailedAfterRebase(state, row)) return findOffered(row, ['dependabot_recreate']);
  const isWaiting = retryAt === undefined ? sentFor === row.headSha : at < retryAt;
  const isUpdatable = row.behind && !row.empty && row.mergeStatus !== 'conflicting';
  return isWaiting || !isUpdatable ? undefined : findOffered(row, UPDATES);
}

function hasFailedAfterRebase({ watched }: AutoUpdateState, { headSha, ci }: PullRequest): boolean {
  return watched !== undefined && watched !== headSha && ci === 'failure';
}

/** Returns the first action that is allowed, unless it is pending already. */
function findOffered(row: PullRequest, actions: readonly ActionName[]): ActionName | undefined {
  const found = actions.find((action) =>
    row.allowedActions.some((one) => one.action === action && one.blocked === undefined),
  );
  return found === undefined || isPending(found, row) ? undefined : found;
}

/** Returns the state to save before an update is sent, so that it is not sent again after a crash. */
export function toSendingState(
  state: AutoUpdateState,
  row: PullRequest,
  { action, at }: { readonly action: ActionName; readonly at: number },
): AutoUpdateState {
  const sentAt = [...state.sentAt.filter((time) => time > at - DAY_MS), at];
  return { sentFor: row.headSha, sentAt, ...(action === 'dependabot_rebase' ? { watched: row.headSha } : {}) };
}

/** Returns the state after an error. A rate limit allows a retry; other errors would repeat for the same commit. */
export function toRejectedState(
  state: AutoUpdateState,
  { kind, resetsAt = 0 }: ForgeError,
  at: number,
): AutoUpdateState {
  return kind === 'rate_limited' ? { ...state, retryAt: Math.max(at + RETRY_MS, resetsAt) } : state;
}

/** Returns the state after a refresh: the same object if the refresh shows no outcome of earlier updates. */
export function toRefreshedState(state: AutoUpdateState, row: PullRequest): AutoUpdateState {
  const { watched, ...others } = state;
  const isSettled = row.ciKnown !== false && (row.ci === 'success' || row.ci === 'none');
  const isRebased = watched !== undefined && watched !== row.headSha && isSettled;
  const seen = isRebased ? others : state;
  return row.behind || seen.sentFor === '' ? seen : { ...seen, sentFor: '' };
}

/** Returns the expiry time of the state, in milliseconds. */
function toUpdateStateExpiry(at: number): number {
  return at + DAY_MS;
}
