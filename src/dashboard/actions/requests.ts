/** What bots and forges were asked to do later, and how that goes on. Times are RFC 3339, as boards show them. */
import type { ActionName, PullRequest } from '../forges/facts.js';
import type { Reply, SentComment } from '../forges/forge.js';
import type { Mark } from './keep-marks.js';

type BotRequest = NonNullable<PullRequest['botRequest']>;
type UpdateRequest = NonNullable<PullRequest['updateRequest']>;

/** What it was like when it was asked for; empty and false for a pull request that wasn't on the board. */
interface Before {
  readonly headSha: string;
  readonly behind: boolean;
}

export interface BotRequestState extends Before, BotRequest {
  /** The comment that asks, while there is no answer to it. */
  readonly commentId?: string | undefined;
  /** The bot takes no commands from this credential. */
  readonly isRefused?: true;
}
export type UpdateRequestState = Before & UpdateRequest;

/** Bots that do something at all do it within ten minutes. */
const BOT_MS = 600_000;

/** A bot that has pushed is seen by its checks; without any, it is done by then. */
const REBASING_MS = 120_000;

/** Forges update a branch in seconds. */
const UPDATE_MS = 300_000;

/** What came to nothing is shown for so long. */
const EXPIRED_MS = 3_600_000;

const BOTS: Readonly<Partial<Record<ActionName, Pick<BotRequest, 'action' | 'bot'>>>> = {
  dependabot_rebase: { bot: 'dependabot', action: 'rebase' },
  dependabot_recreate: { bot: 'dependabot', action: 'recreate' },
  renovate_rebase: { bot: 'renovate', action: 'rebase' },
};

/** Marks that somebody was asked, or `undefined` when an action is done at once. */
export function requestMark(
  action: ActionName,
  row: Before | undefined,
  { at, comment }: { readonly at: number; readonly comment?: SentComment | undefined },
): Mark | undefined {
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

/** Which mark says that an action was asked for and is not done. */
export function isAskedFor(
  action: ActionName,
  { botRequest, updateRequest }: Pick<PullRequest, 'botRequest' | 'updateRequest'>,
): boolean {
  if (action === 'update_branch') return updateRequest?.phase === 'queued';
  const asked = BOTS[action];
  if (asked === undefined || !botRequest || botRequest.phase === 'expired') return false;
  return asked.bot === botRequest.bot && asked.action === botRequest.action;
}

/** @returns What is to be kept now: the same state when nothing happened, `undefined` when it is over. */
export function advanceBotRequest(state: BotRequestState, row: PullRequest, at: number): BotRequestState | undefined {
  if (state.phase === 'rebasing') {
    return row.ci === 'pending' || at >= Date.parse(state.expiresAt) ? undefined : state;
  }
  if (!hasBegun(state, row)) return state;
  return { ...state, phase: 'rebasing', expiresAt: new Date(at + REBASING_MS).toISOString() };
}

/**
 * Takes in what the bot said. From a thumbs-up on it has its ten minutes, also when the request had expired; what it
 * refuses has expired at once.
 */
export function withReply(state: BotRequestState, reply: Reply | undefined, at: number): BotRequestState {
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

/** Until when a request is worth keeping. */
export function keepUntil({ phase, expiresAt }: BotRequestState): number {
  return Date.parse(expiresAt) + (phase === 'rebasing' ? 0 : EXPIRED_MS);
}

/** As it is at a moment: what nobody did in time has expired, whether somebody looked or not. */
export function showBotRequest(state: BotRequest, at: number): BotRequest {
  const { bot, action, requestedAt, expiresAt, acknowledgedAt, commentUrl } = state;
  const phase = isExpired(state, at) ? 'expired' : state.phase;
  const known = { ...(acknowledgedAt && { acknowledgedAt }), ...(commentUrl && { commentUrl }) };
  return { bot, action, phase, requestedAt, expiresAt, ...known };
}

export function showUpdateRequest(state: UpdateRequest, at: number): UpdateRequest {
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
