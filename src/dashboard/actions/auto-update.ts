/** Keeping branches up to date by ourselves. Nobody watches it, so it is timid. */
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { ForgeError } from '../forges/forge-error.js';
import { isAskedFor } from './requests.js';

export interface AutoUpdateState {
  /** The newest commit when something was last sent and its outcome wasn't seen; empty when it was. */
  readonly sentFor: string;
  /** When things were sent in the last day, in milliseconds. */
  readonly sentAt: readonly number[];
  /** Until then the forge takes nothing; then it may be sent again. */
  readonly retryAt?: number | undefined;
  /** The commit from which Dependabot was asked to rebase; gone when the checks of what came of it are known. */
  readonly watched?: string | undefined;
}

export const NOTHING_SENT: AutoUpdateState = { sentFor: '', sentAt: [] };

const DAY_MS = 86_400_000;
const RETRY_MS = 300_000;

/** Bases that move all day long move on without us; whoever follows them that closely updates by hand. */
const MAX_A_DAY = 6;

const UPDATES: readonly ActionName[] = ['dependabot_rebase', 'renovate_rebase', 'update_branch'];

/** @returns What to send, or `undefined` for nothing: never a second thing before the outcome of the first is seen. */
export function findUpdate(state: AutoUpdateState, row: PullRequest, at: number): ActionName | undefined {
  if (row.headSha === '' || row.kind === 'release') return undefined;
  const { sentFor, sentAt, retryAt } = state;
  if (sentAt.filter((time) => time > at - DAY_MS).length >= MAX_A_DAY) return undefined;
  if (hasFailedAfterRebase(state, row)) return findOffered(row, ['dependabot_recreate']);
  const isWaiting = retryAt === undefined ? sentFor === row.headSha : at < retryAt;
  const isUpdatable = row.behind && !row.empty && row.mergeStatus !== 'conflicting';
  return isWaiting || !isUpdatable ? undefined : findOffered(row, UPDATES);
}

function hasFailedAfterRebase({ watched }: AutoUpdateState, { headSha, ci }: PullRequest): boolean {
  return watched !== undefined && watched !== headSha && ci === 'failure';
}

/** Somebody may have asked for it already. */
function findOffered(row: PullRequest, actions: readonly ActionName[]): ActionName | undefined {
  const found = actions.find((action) =>
    row.allowedActions.some((one) => one.action === action && one.blocked === undefined),
  );
  return found === undefined || isAskedFor(found, row) ? undefined : found;
}

/** As it is kept before something is sent: should this process end amid it, that is not sent again. */
export function beforeSending(
  state: AutoUpdateState,
  row: PullRequest,
  { action, at }: { readonly action: ActionName; readonly at: number },
): AutoUpdateState {
  const sentAt = [...state.sentAt.filter((time) => time > at - DAY_MS), at];
  return { sentFor: row.headSha, sentAt, ...(action === 'dependabot_rebase' ? { watched: row.headSha } : {}) };
}

/** A limit is no decision; any other refusal would be the same for the same commit. */
export function afterRefusedUpdate(
  state: AutoUpdateState,
  { kind, resetsAt = 0 }: ForgeError,
  at: number,
): AutoUpdateState {
  return kind === 'rate_limited' ? { ...state, retryAt: Math.max(at + RETRY_MS, resetsAt) } : state;
}

/** What a refresh shows of what was sent before; the same state when that is nothing. */
export function afterRefresh(state: AutoUpdateState, row: PullRequest): AutoUpdateState {
  const { watched, ...others } = state;
  const isSettled = row.ciKnown !== false && (row.ci === 'success' || row.ci === 'none');
  const isRebased = watched !== undefined && watched !== row.headSha && isSettled;
  const seen = isRebased ? others : state;
  return row.behind || seen.sentFor === '' ? seen : { ...seen, sentFor: '' };
}

/** Until when it is worth keeping. */
export function keepUpdateUntil(at: number): number {
  return at + DAY_MS;
}
