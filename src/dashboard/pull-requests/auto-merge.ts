/** Auto-merges by Trellis, for forges without an auto-merge API. */
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import { toBoardRows } from '../forges/board-rows.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Forge, ForgeName, PullRequest } from '../forges/forge.js';
import { messageFor, toActionCode } from './action-errors.js';
import { hideFromBoard, isClosedAtForge } from './effects.js';
import { ActionNotDueError, type AutomationInput, sendAutomaticAction } from './send-action-once.js';
import { deleteState, findState, type PullRequestAddress, saveState, updateState } from './state-entries.js';

type AutoMerged = components['schemas']['AutoMergedPullRequest'];

/** How long the board lists an auto-merged pull request. */
const NEWS_MS = 600_000;

/** Merges a pull request with auto-merge if a refresh shows that it is ready. @returns whether the board changed. */
export async function runAutoMerge(followed: AutomationInput, known: AutoMergeState): Promise<boolean> {
  const { database, address, row, now } = followed;
  const bound = toBoundState(known, row);
  const state = isMoved(bound, row) ? toMovedState(known, row) : toResumedState(bound, row);
  const keep = (kept: AutoMergeState) =>
    updateState(database, address, {
      kind: 'auto_merge',
      state: { ...kept, headSha: bound.headSha, replacedSha: bound.replacedSha },
    });
  if (!isMergeDue(state, row, now())) {
    if (state !== known) await keep(state);
    return state !== known && state !== bound;
  }
  const outcome = await sendAutomaticAction(followed, 'merge', {
    async assertDue() {
      // The cast is safe: the kind of the entry determines its type.
      const newest = (await findState(database, address, { kind: 'auto_merge', at: now() })) as
        AutoMergeState | undefined;
      if (newest === undefined || isMoved(newest, row) || !isMergeDue(toResumedState(newest, row), row, now()))
        throw new ActionNotDueError();
      await keep(toAttemptState(row, now()));
    },
    saveEffect: () => keepMerged(followed),
  });
  if (typeof outcome === 'string') return outcome === 'sent';
  if (isClosedAtForge(outcome.refused)) await hideFromBoard(database, address, now());
  else await keep(toStoppedState(outcome.refused, row, now()));
  return true;
}

/** Runs after the forge has confirmed the merge, because only then the auto-merge request may be removed. */
async function keepMerged({ database, address, row, now }: AutomationInput): Promise<void> {
  const at = now();
  const news: AutoMerged = {
    forge: address.forge,
    fullName: row.repo,
    number: address.number,
    mergedAt: new Date(at).toISOString(),
    message: `Auto-merged: ${row.title}`,
  };
  await saveState(database, address, { kind: 'auto_merged', state: news, expiresAt: at + NEWS_MS });
  await hideFromBoard(database, address, at);
}

type AutoMerge = components['schemas']['AutoMerge'];

/** A requested auto-merge, with the result of the last attempt. */
export interface AutoMergeState extends AutoMerge {
  /** In the forge's own spelling; the stored row has it in lower case. */
  readonly fullName: string;
  /** The head commit when it was requested, or after an update of the branch by Trellis; absent until it is known. */
  readonly headSha?: string;
  /** The head commit before an update by Trellis, which a refresh may still read for a while. */
  readonly replacedSha?: string;
  /** The `updatedAt` of the pull request at the last attempt. There is no further attempt until it changes. */
  readonly triedFor?: string;
  /** When to try again even without a change, in milliseconds, because the forge did not decide on the last attempt. */
  readonly retryAt?: number;
  /** When the forge was last asked for the pull request while it was missing from the board, in milliseconds. */
  readonly lookedAt?: number;
}

const RETRY_MS = 300_000;

const WAITING: AutoMerge = {
  state: 'waiting',
  message: 'Trellis merges it once its checks pass and nothing else blocks it.',
};

/** @param headSha The head commit that the user has seen; empty if it is unknown. */
export async function enableAutoMerge(database: Database, address: PullRequestAddress, headSha: string): Promise<void> {
  const state: AutoMergeState = { ...WAITING, fullName: address.fullName, ...(headSha !== '' && { headSha }) };
  await saveState(database, address, { kind: 'auto_merge', state });
}

function toBoundState(state: AutoMergeState, { headSha }: PullRequest): AutoMergeState {
  return state.headSha === undefined && !['', state.replacedSha].includes(headSha) ? { ...state, headSha } : state;
}

/**
 * Reports whether a branch has new commits to which its author may push without write access to the repository: one
 * of a fork, or of a pull request by `git push` (AGit). GitHub and GitLab then cancel auto-merge too.
 */
function isMoved({ headSha }: AutoMergeState, row: PullRequest): boolean {
  const isOfOutsider = row.crossRepository || row.headBranch.startsWith('refs/');
  return isOfOutsider && headSha !== undefined && row.headSha !== '' && row.headSha !== headSha;
}

const MOVED = 'The branch has new commits since auto-merge was enabled. Review them, cancel it, and enable it again.';

/** Returns the stopped state, or the same object if it is stopped for this reason. */
function toMovedState(state: AutoMergeState, { repo: fullName, updatedAt: triedFor }: PullRequest): AutoMergeState {
  if (state.state === 'stopped' && state.message === MOVED) return state;
  return { state: 'stopped', code: 'head_changed', message: MOVED, fullName, triedFor };
}

/** Returns whether to merge now. A pull request without checks is never due. */
export function isMergeDue({ state, triedFor, retryAt }: AutoMergeState, row: PullRequest, at: number): boolean {
  if (state === 'stopped') return false;
  const { ci, mergeStatus, draft, empty, stackedOn } = row;
  const isReady = ci === 'success' && mergeStatus === 'mergeable' && !draft && !empty && stackedOn === null;
  if (!isReady || (retryAt !== undefined && at < retryAt)) return false;
  return retryAt !== undefined || triedFor !== row.updatedAt;
}

/** Returns the state to save before an attempt. After a crash, it leads to a retry, which first checks the outcome. */
function toAttemptState({ repo: fullName, updatedAt: triedFor }: PullRequest, at: number): AutoMergeState {
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
function toResumedState(state: AutoMergeState, { updatedAt }: PullRequest): AutoMergeState {
  return state.state === 'waiting' || state.triedFor === updatedAt ? state : { ...WAITING, fullName: state.fullName };
}

/** Returns whether to ask the forge for a pull request that is missing from the board. */
function isAbsentFromBoard({ lookedAt = 0 }: AutoMergeState, at: number): boolean {
  return at - lookedAt >= RETRY_MS;
}

interface UnlistedOptions {
  readonly personId: string;
  readonly forges: ReadonlyMap<ForgeName, Forge>;
  /** The state of the pull requests that the refresh did not return. */
  readonly kept: ReadonlyMap<string, { readonly auto_merge?: AutoMergeState }>;
  readonly at: number;
}

/**
 * Reads pull requests with auto-merge that the refresh did not return, each at most every five minutes. Removes the
 * auto-merge state of those that the forge reports as no longer open.
 */
export async function fetchUnlistedPullRequests(
  database: Database,
  { personId, forges, kept, at }: UnlistedOptions,
): Promise<PullRequest[]> {
  const rows: PullRequest[] = [];
  for (const [key, { auto_merge: state }] of kept) {
    const [forgeName, , number] = key.split(' ');
    const forge = forges.get(forgeName as ForgeName);
    if (forge === undefined || state === undefined || !isAbsentFromBoard(state, at)) continue;
    const address = { personId, forge: forge.name, fullName: state.fullName, number: Number(number) };
    await updateState(database, address, { kind: 'auto_merge', state: { ...state, lookedAt: at } });
    const row = await readOpen(database, forge, address);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

async function readOpen(
  database: Database,
  forge: Forge,
  address: PullRequestAddress,
): Promise<PullRequest | undefined> {
  try {
    return await fetchPullRequestRow(forge, address);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not_found') await deleteState(database, address, 'auto_merge');
    return undefined;
  }
}

/**
 * Reads an open pull request that the board does not list from its forge.
 *
 * @throws ForgeError `not_found` if the repository has no such open pull request.
 */
export async function fetchPullRequestRow(
  forge: Forge,
  { fullName, number }: PullRequestAddress,
): Promise<PullRequest> {
  const reading = await forge.readRepository(fullName);
  const rows = reading && toBoardRows(reading, { forge: forge.name, username: '', renovateAuthors: [] });
  const row = rows?.pullRequests.find((one) => one.number === number);
  if (row === undefined) throw new ForgeError('not_found');
  return row;
}
