/** Tracks pending requests to bots and forges. Each function returns whether the board changed. */
import type { BotReply } from '../forges/forge.js';
import type { AutomationInput } from './send-automatic-action.js';
import { updateState, deleteState } from '../actions/state-entries.js';
import { advanceBotRequest, advanceUpdateRequest, toRequestExpiry, applyBotReply } from '../actions/bot-requests.js';
import type { BotRequestState, UpdateRequestState } from '../actions/bot-requests.js';

export async function trackBotRequest(
  { database, address, row, now }: AutomationInput,
  { known, reply }: { readonly known: BotRequestState; readonly reply: BotReply | undefined },
): Promise<boolean> {
  const state = advanceBotRequest(applyBotReply(known, reply, now()), row, now());
  if (state === undefined) await deleteState(database, address, 'bot_request');
  else if (state !== known)
    await updateState(database, address, { kind: 'bot_request', state, expiresAt: toRequestExpiry(state) });
  return state !== known;
}

export async function trackUpdateRequest(
  { database, address, row }: AutomationInput,
  known: UpdateRequestState,
): Promise<boolean> {
  const isOver = advanceUpdateRequest(known, row) === undefined;
  if (isOver) await deleteState(database, address, 'update_request');
  return isOver;
}
