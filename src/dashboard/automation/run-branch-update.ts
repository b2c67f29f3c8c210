import {
  INITIAL_UPDATE_STATE,
  toRefreshedState,
  toRejectedState,
  toSendingState,
  findDueUpdate,
  toUpdateStateExpiry,
} from './branch-updates.js';
import type { AutoUpdateState } from './branch-updates.js';
import { saveActionEffect } from '../actions/effects.js';
import { sendAutomaticAction } from './send-automatic-action.js';
import type { AutomationInput } from './send-automatic-action.js';
import { updateState, findState, saveState } from '../actions/state-entries.js';
import { ActionNotDueError } from '../actions/send-action-once.js';

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
