/** Tracks pending requests to bots and forges. Each function returns whether the board changed. */
import type { Reply } from '../forges/forge.js';
import type { Followed } from './follow.js';
import { changeMark, removeMark } from './keep-marks.js';
import { advanceBotRequest, advanceUpdateRequest, keepUntil, withReply } from './requests.js';
import type { BotRequestState, UpdateRequestState } from './requests.js';

export async function followBotRequest(
  { database, address, row, now }: Followed,
  { known, reply }: { readonly known: BotRequestState; readonly reply: Reply | undefined },
): Promise<boolean> {
  const state = advanceBotRequest(withReply(known, reply, now()), row, now());
  if (state === undefined) await removeMark(database, address, 'bot_request');
  else if (state !== known)
    await changeMark(database, address, { kind: 'bot_request', state, expiresAt: keepUntil(state) });
  return state !== known;
}

export async function followUpdateRequest(
  { database, address, row }: Followed,
  known: UpdateRequestState,
): Promise<boolean> {
  const isOver = advanceUpdateRequest(known, row) === undefined;
  if (isOver) await removeMark(database, address, 'update_request');
  return isOver;
}
