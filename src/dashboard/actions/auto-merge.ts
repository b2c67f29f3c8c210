/** Merging once it can be, for forges that leave that to us. */
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { PullRequest } from '../forges/facts.js';
import type { ForgeError } from '../forges/forge-error.js';
import { saveMark } from './keep-marks.js';
import type { PullRequestAddress } from './keep-marks.js';
import { codeOfKind, sentenceOf } from './refusals.js';

type AutoMerge = components['schemas']['AutoMerge'];

/** What is wished, and how the last attempt went. */
export interface AutoMergeState extends AutoMerge {
  /** As the forge writes it; what a mark goes by is in lower case. */
  readonly fullName: string;
  /** The `updatedAt` that there was an attempt for: nothing has changed since, so there is no other. */
  readonly triedFor?: string | undefined;
  /** When to try again nevertheless, in milliseconds, as the last attempt never got to a decision. */
  readonly retryAt?: number | undefined;
  /** When the forge was last asked whether it is open still, while it was not on the board. */
  readonly lookedAt?: number | undefined;
}

const RETRY_MS = 300_000;

const WAITING: AutoMerge = {
  state: 'waiting',
  message: 'It is merged from here once its checks pass and nothing else is in the way.',
};

export async function armAutoMerge(database: Database, address: PullRequestAddress): Promise<void> {
  const state: AutoMergeState = { ...WAITING, fullName: address.fullName };
  await saveMark(database, address, { kind: 'auto_merge', state });
}

/** Without checks nothing has passed. */
export function isDue({ triedFor, retryAt }: AutoMergeState, row: PullRequest, at: number): boolean {
  const { ci, mergeStatus, draft, empty, stackedOn } = row;
  const isReady = ci === 'success' && mergeStatus === 'mergeable' && !draft && !empty && stackedOn === null;
  if (!isReady || (retryAt !== undefined && at < retryAt)) return false;
  return retryAt !== undefined || triedFor !== row.updatedAt;
}

/** As it is kept before an attempt: should this process end amid it, it is tried again later, when the forge is asked first. */
export function beforeAttempt({ repo: fullName, updatedAt: triedFor }: PullRequest, at: number): AutoMergeState {
  return { ...WAITING, fullName, triedFor, retryAt: at + RETRY_MS };
}

const UNDECIDED: ReadonlySet<ForgeError['kind']> = new Set([
  ...(['rate_limited', 'unreachable', 'address_refused', 'unknown'] as const),
]);

/** As it is after the forge refused. What it never decided about is tried again, anything else once it has changed. */
export function afterRefusal(error: ForgeError, row: PullRequest, at: number): AutoMergeState {
  const { kind, resetsAt = 0, refusal } = error;
  const code = refusal ?? codeOfKind(kind);
  const isUndecided = UNDECIDED.has(kind);
  if (isUndecided) return { ...beforeAttempt(row, at), retryAt: Math.max(at + RETRY_MS, resetsAt) };
  const { repo: fullName, updatedAt: triedFor } = row;
  return { state: 'stopped', code, message: sentenceOf(code, kind), fullName, triedFor };
}

/** @returns What is waited for again, as something has changed since it was stopped; the same state when it hasn't. */
export function afterChange(state: AutoMergeState, { updatedAt }: PullRequest): AutoMergeState {
  return state.state === 'waiting' || state.triedFor === updatedAt ? state : { ...WAITING, fullName: state.fullName };
}

/** Whether to ask for one that is not on the board. */
export function isMissed({ lookedAt = 0 }: AutoMergeState, at: number): boolean {
  return at - lookedAt >= RETRY_MS;
}
