import type { Database } from '../../storage/database.js';
import type { ForgeError } from '../forges/forge-error.js';
import type { ActionName, BotReply, PullRequest, SentComment } from '../forges/forge.js';
import type { AutoMergeState } from './auto-merge.js';
import type { ActionOutcome } from './send-action-once.js';
import {
  deleteState,
  findState,
  type PullRequestAddress,
  saveState,
  type StateEntry,
  updateState,
} from './state-entries.js';

/** Forges may still list a pull request for a while after it was closed. */
const HELD_MS = 120_000;

interface ActionEffect {
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  readonly outcome: ActionOutcome;
  readonly row: PullRequest | undefined;
  readonly at: number;
}

/** Saves the effect of an action, which the board shows until the forge reports it. */
export async function saveActionEffect(
  database: Database,
  { address, action, outcome, row, at }: ActionEffect,
): Promise<void> {
  if (action === 'merge' || action === 'close') return hideFromBoard(database, address, at);
  // An update that the forge has completed is not pending; bots always work later.
  if (action === 'update_branch' && outcome === 'done') return acceptNewHead(database, address, at);
  const mark = toRequestEntry(action, row, { at, comment: typeof outcome === 'string' ? undefined : outcome });
  if (mark !== undefined) await saveState(database, address, mark);
}

/** Lets auto-merge continue with the commit of an update by the user or by Trellis. @see AutoMergeState.replacedSha */
async function acceptNewHead(database: Database, address: PullRequestAddress, at: number): Promise<void> {
  const found = await findState(database, address, { kind: 'auto_merge', at });
  if (found === undefined) return;
  const { headSha, replacedSha, ...state } = found as Pick<AutoMergeState, 'headSha' | 'replacedSha'>;
  const next = { ...state, replacedSha: headSha ?? replacedSha };
  await updateState(database, address, { kind: 'auto_merge', state: next });
}

/** Hides a closed pull request from the board, and cancels its auto-merge. */
export async function hideFromBoard(database: Database, address: PullRequestAddress, at: number): Promise<void> {
  await saveState(database, address, { kind: 'held', state: {}, expiresAt: at + HELD_MS });
  await deleteState(database, address, 'auto_merge');
}

/** Returns whether the pull request was merged or closed since the board listed it. */
export function isClosedAtForge({ refusal }: ForgeError): boolean {
  return refusal === 'already_merged' || refusal === 'already_closed';
}

// Pending requests to bots and forges, and their progress. Times are RFC 3339 strings, as on boards.

type BotRequest = NonNullable<PullRequest['botRequest']>;
type UpdateRequest = NonNullable<PullRequest['updateRequest']>;

/** The pull request's state at the time of the request; empty and false if it wasn't on the board. */
interface Before {
  readonly headSha: string;
  readonly behind: boolean;
}

export interface BotRequestState extends Before, BotRequest {
  /** The comment with the command, until the bot has replied. */
  readonly commentId?: string;
  /** Whether the bot accepts no commands from this credential. */
  readonly isRefused?: true;
}
export type UpdateRequestState = Before & UpdateRequest;

/** Bots that react at all do so within ten minutes. */
const BOT_MS = 600_000;

/** After a push, running checks show that the bot is done; without checks, it is done by then. */
const REBASING_MS = 120_000;

/** Forges usually update a branch within seconds. */
const UPDATE_MS = 300_000;

/** How long the board shows an expired request. */
const EXPIRED_MS = 3_600_000;

const BOTS: Readonly<Partial<Record<ActionName, Pick<BotRequest, 'action' | 'bot'>>>> = {
  dependabot_rebase: { bot: 'dependabot', action: 'rebase' },
  dependabot_recreate: { bot: 'dependabot', action: 'recreate' },
  renovate_rebase: { bot: 'renovate', action: 'rebase' },
};

/** Returns the state entry of a pending request, or `undefined` for actions that complete at once. */
function toRequestEntry(
  action: ActionName,
  row: Before | undefined,
  { at, comment }: { readonly at: number; readonly comment?: SentComment },
): StateEntry | undefined {
  const before: Before = { headSha: row?.headSha ?? '', behind: row?.behind ?? false };
  const bot = BOTS[action];
  if (bot !== undefined) {
    const state: BotRequestState = { ...before, ...bot, phase: 'queued', ...timesOf(at, BOT_MS), ...comment };
    return { kind: 'bot_request', state, expiresAt: at + BOT_MS + EXPIRED_MS };
  }
  if (action !== 'update_branch') return undefined;
  const state: UpdateRequestState = { ...before, phase: 'queued', ...timesOf(at, UPDATE_MS) };
  return { kind: 'update_request', state, expiresAt: at + UPDATE_MS + EXPIRED_MS };
}

/** Returns whether an action was requested and has neither completed nor expired. */
export function isPending(
  action: ActionName,
  { botRequest, updateRequest }: Pick<PullRequest, 'botRequest' | 'updateRequest'>,
): boolean {
  if (action === 'update_branch') return updateRequest?.phase === 'queued';
  const asked = BOTS[action];
  if (asked === undefined || !botRequest || botRequest.phase === 'expired') return false;
  return asked.bot === botRequest.bot && asked.action === botRequest.action;
}

/** Returns the next state: the same object if nothing happened, `undefined` if the request is complete. */
export function advanceBotRequest(state: BotRequestState, row: PullRequest, at: number): BotRequestState | undefined {
  if (state.phase === 'rebasing') {
    return row.ci === 'pending' || at >= Date.parse(state.expiresAt) ? undefined : state;
  }
  if (!hasBegun(state, row)) return state;
  return { ...state, phase: 'rebasing', expiresAt: new Date(at + REBASING_MS).toISOString() };
}

/**
 * Applies the bot's reply. A thumbs-up gives the bot ten minutes from then on, even if the request had expired. A
 * rejected request expires at once.
 */
export function applyBotReply(state: BotRequestState, reply: BotReply | undefined, at: number): BotRequestState {
  const { commentId, ...others } = state;
  if (commentId === undefined || reply === undefined || state.phase !== 'queued') return state;
  const { acknowledgedAt, isRefused } = reply;
  if (acknowledgedAt !== undefined) {
    const expiresAt = new Date(Date.parse(acknowledgedAt) + BOT_MS).toISOString();
    return { ...others, acknowledgedAt: new Date(acknowledgedAt).toISOString(), expiresAt };
  }
  return isRefused ? { ...others, isRefused, expiresAt: new Date(at).toISOString() } : state;
}

export function advanceUpdateRequest(state: UpdateRequestState, row: PullRequest): UpdateRequestState | undefined {
  return row.behind && !hasMoved(state, row) ? state : undefined;
}

/** Returns the time at which the stored state can be deleted, in milliseconds. */
export function toRequestExpiry({ phase, expiresAt }: BotRequestState): number {
  return Date.parse(expiresAt) + (phase === 'rebasing' ? 0 : EXPIRED_MS);
}

/** Returns the public state at a time in milliseconds, with the phase `expired` if the request timed out. */
export function toPublicBotRequest(state: BotRequest, at: number): BotRequest {
  const { bot, action, requestedAt, expiresAt, acknowledgedAt, commentUrl } = state;
  const phase = isExpired(state, at) ? 'expired' : state.phase;
  const known = { ...(acknowledgedAt && { acknowledgedAt }), ...(commentUrl && { commentUrl }) };
  return { bot, action, phase, requestedAt, expiresAt, ...known };
}

export function toPublicUpdateRequest(state: UpdateRequest, at: number): UpdateRequest {
  const { requestedAt, expiresAt } = state;
  return { phase: isExpired(state, at) ? 'expired' : state.phase, requestedAt, expiresAt };
}

function isExpired({ phase, expiresAt }: BotRequest | UpdateRequest, at: number): boolean {
  return phase === 'queued' && at >= Date.parse(expiresAt);
}

function timesOf(at: number, milliseconds: number) {
  return { requestedAt: new Date(at).toISOString(), expiresAt: new Date(at + milliseconds).toISOString() };
}

function hasBegun(state: Before, row: PullRequest): boolean {
  return hasMoved(state, row) || (state.behind && !row.behind);
}

function hasMoved(state: Before, { headSha }: PullRequest): boolean {
  return state.headSha !== '' && headSha !== '' && headSha !== state.headSha;
}
