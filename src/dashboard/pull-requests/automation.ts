import type { Database } from '../../storage/database.js';
import { ForgeError } from '../forges/forge-error.js';
import { type BotReply, type PullRequest, pullRequestKey, repositoryKey, type ActionName } from '../forges/forge.js';
import type { OnRefreshed } from '../refresh/refresh-worker.js';
import type { Refresher } from '../refresh/refresher.js';
import { type AutoMergeState, fetchUnlistedPullRequests, runAutoMerge } from './auto-merge.js';
import {
  advanceBotRequest,
  advanceUpdateRequest,
  applyBotReply,
  type BotRequestState,
  toRequestExpiry,
  type UpdateRequestState,
  isPending,
  saveActionEffect,
} from './effects.js';
import { type Attempts, type AutomationInput, ActionNotDueError, sendAutomaticAction } from './send-action-once.js';
import { deleteState, type PullRequestAddress, updateState, findState, saveState } from './state-entries.js';

interface AutomationOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'rebuildBoard' | 'refreshRepository'>;
  readonly attempts: Attempts;
  readonly now?: () => number;
}

/** Branch updates per user and minute. The others wait for a later refresh. */
const MAX_UPDATES = 10;
const MINUTE_MS = 60_000;

/** A pull request with the state that automation acts on. */
interface Item {
  readonly followed: AutomationInput;
  readonly kept: AutomationState;
  readonly isUpdated: boolean;
}

/**
 * Creates the automation that runs after each refresh: it performs auto-merges and branch updates, and tracks pending
 * requests. It works sequentially, because nothing is urgent and forges limit concurrent writes.
 */
export function createAutomation({ database, refresher, attempts, now = Date.now }: AutomationOptions): OnRefreshed {
  return async (personId, forges, rows) => {
    const kept = await readAutomationState(database, personId, now());
    const updated = await readAutoUpdatedRepositories(database, personId);
    if (kept.size + updated.size === 0) return;
    const toItems = (row: PullRequest, isUpdated: boolean): Item[] => {
      const forge = forges.get(row.forge);
      const address = { personId, forge: row.forge, fullName: row.repo, number: row.number };
      const own = kept.get(keyOf(row)) ?? {};
      return forge === undefined
        ? []
        : [{ followed: { database, attempts, now, forge, address, row }, kept: own, isUpdated }];
    };
    const shown = rows.flatMap((row) => toItems(row, updated.has(repositoryKey(row.forge, row.repo))));
    const unseen = new Map(kept);
    for (const row of rows) unseen.delete(keyOf(row));
    const missed = await fetchUnlistedPullRequests(database, { personId, forges, kept: unseen, at: now() });
    const items = [...shown, ...missed.flatMap((row) => toItems(row, false))];
    const { isChanged, sentTo } = await followAll(items, MAX_UPDATES - countUpdates(kept, now()));
    if (isChanged) await refresher.rebuildBoard(personId);
    // Not awaited: the board shows errors of these refreshes.
    for (const { forge, fullName } of sentTo) {
      void refresher.refreshRepository(personId, forge, fullName).catch(() => undefined);
    }
  };
}

const keyOf = ({ forge, repo, number }: PullRequest): string => pullRequestKey(forge, repo, number);

function countUpdates(kept: ReadonlyMap<string, AutomationState>, at: number): number {
  const sentAt = Array.from(kept.values(), ({ auto_update }) => auto_update?.sentAt ?? []).flat();
  return sentAt.filter((time) => time > at - MINUTE_MS).length;
}

interface Followings {
  readonly isChanged: boolean;
  /** The repositories in which an action was sent. */
  readonly sentTo: readonly PullRequestAddress[];
}

async function followAll(items: readonly Item[], mostUpdates: number): Promise<Followings> {
  const replies = await readReplies(items);
  const sentTo = new Map<string, PullRequestAddress>();
  let [updates, isChanged] = [0, false];
  for (const { followed, kept, isUpdated } of items) {
    const { address } = followed;
    const isMerged = kept.auto_merge !== undefined && (await runAutoMerge(followed, kept.auto_merge));
    const isSent = isUpdated && updates < mostUpdates && (await runBranchUpdate(followed, kept.auto_update));
    if (isSent) updates += 1;
    if (isMerged || isSent) sentTo.set(repositoryKey(address.forge, address.fullName), address);
    if ((await followRequests(followed, kept, replies)) || isMerged || isSent) isChanged = true;
  }
  return { isChanged, sentTo: [...sentTo.values()] };
}

type Replies = ReadonlyMap<string, BotReply>;

/** Reads the replies to all pending comments in one request. Errors of the forge count as no reply until later. */
async function readReplies(items: readonly Item[]): Promise<Replies> {
  const waiting = items.filter(({ kept }) => kept.bot_request?.phase === 'queued');
  const comments = waiting.flatMap(({ kept }) => kept.bot_request?.commentId ?? []);
  const forge = waiting.find(({ followed }) => followed.forge.readReplies !== undefined)?.followed.forge;
  if (comments.length === 0 || forge?.readReplies === undefined) return new Map();
  return forge.readReplies(comments).catch((error: unknown) => {
    if (error instanceof ForgeError) return new Map();
    throw error;
  });
}

async function followRequests(
  followed: AutomationInput,
  { bot_request: known, update_request }: AutomationState,
  replies: Replies,
): Promise<boolean> {
  const reply = replies.get(known?.commentId ?? '');
  const isBotOn = known !== undefined && (await trackBotRequest(followed, { known, reply }));
  const isUpdateOver = update_request !== undefined && (await trackUpdateRequest(followed, update_request));
  return isBotOn || isUpdateOver;
}

/** Tracks a pending request to a bot. @returns whether the board changed. */
async function trackBotRequest(
  { database, address, row, now }: AutomationInput,
  { known, reply }: { readonly known: BotRequestState; readonly reply: BotReply | undefined },
): Promise<boolean> {
  const state = advanceBotRequest(applyBotReply(known, reply, now()), row, now());
  if (state === undefined) await deleteState(database, address, 'bot_request');
  else if (state !== known)
    await updateState(database, address, { kind: 'bot_request', state, expiresAt: toRequestExpiry(state) });
  return state !== known;
}

/** Tracks a pending update of a branch. @returns whether the board changed. */
async function trackUpdateRequest(
  { database, address, row }: AutomationInput,
  known: UpdateRequestState,
): Promise<boolean> {
  const isOver = advanceUpdateRequest(known, row) === undefined;
  if (isOver) await deleteState(database, address, 'update_request');
  return isOver;
}

/** The state of one pull request that automation acts on, by kind. */
interface AutomationState {
  readonly auto_merge?: AutoMergeState;
  readonly auto_update?: AutoUpdateState;
  readonly bot_request?: BotRequestState;
  readonly update_request?: UpdateRequestState;
}

/** Returns the unexpired state at a time in milliseconds, keyed by `pullRequestKey`. */
async function readAutomationState(
  database: Database,
  personId: string,
  at: number,
): Promise<Map<string, AutomationState>> {
  const rows = await database
    .selectFrom('pull_request_marks')
    .select(['forge', 'repo', 'number', 'kind', 'state'])
    .where('person_id', '=', personId)
    .where('kind', 'in', ['auto_merge', 'auto_update', 'bot_request', 'update_request'])
    .where((or) => or.or([or('expires_at', 'is', null), or('expires_at', '>', at)]))
    .execute();
  const kept = new Map<string, AutomationState>();
  for (const { forge, repo, number, kind, state } of rows) {
    const key = `${forge} ${repo} ${number}`;
    kept.set(key, { ...kept.get(key), [kind]: JSON.parse(state) as unknown });
  }
  return kept;
}

/** Returns the keys of the repositories with automatic branch updates. */
async function readAutoUpdatedRepositories(database: Database, personId: string): Promise<Set<string>> {
  const rows = await database
    .selectFrom('repository_marks')
    .select(['forge', 'repo'])
    .where('person_id', '=', personId)
    .where('auto_update_branch', '=', 1)
    .execute();
  return new Set(rows.map(({ forge, repo }) => `${forge} ${repo}`));
}

// Automatic branch updates. Their decisions are cautious, because no user supervises them.

/** Updates a branch that is behind its base, if an update is due. @returns whether the board changed. */
async function runBranchUpdate(
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
