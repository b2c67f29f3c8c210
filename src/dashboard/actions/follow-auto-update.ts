import {
  NOTHING_SENT,
  afterRefresh,
  afterRefusedUpdate,
  beforeSending,
  findUpdate,
  keepUpdateUntil,
} from './auto-update.js';
import type { AutoUpdateState } from './auto-update.js';
import { keepEffect } from './effects.js';
import { sendUnattended } from './follow.js';
import type { Followed } from './follow.js';
import { changeMark, findMark, saveMark } from './keep-marks.js';
import { NotDue } from './send-once.js';

/** Updates a branch that is behind its base, if an update is due. @returns whether the board changed. */
export async function followAutoUpdate(followed: Followed, known: AutoUpdateState = NOTHING_SENT): Promise<boolean> {
  const { database, address, forge, row, now } = followed;
  const toMark = (state: AutoUpdateState) =>
    ({ kind: 'auto_update', state, expiresAt: keepUpdateUntil(now()) }) as const;
  const state = afterRefresh(known, row);
  if (state !== known) await changeMark(database, address, toMark(state));
  const action = findUpdate(state, row, now());
  if (action === undefined || !forge.actions.includes(action)) return false;
  let sent = state;
  const outcome = await sendUnattended(followed, action, {
    async requireDue() {
      const found = await findMark(database, address, { kind: 'auto_update', at: now() });
      // The cast is safe: the kind of the entry determines its type.
      const newest = afterRefresh((found as AutoUpdateState | undefined) ?? NOTHING_SENT, row);
      if (findUpdate(newest, row, now()) !== action) throw new NotDue();
      sent = beforeSending(newest, row, { action, at: now() });
      await saveMark(database, address, toMark(sent));
    },
    keep: (done) => keepEffect(database, { address, action, outcome: done, row, at: now() }),
  });
  if (typeof outcome === 'string') return outcome === 'sent';
  await changeMark(database, address, toMark(afterRefusedUpdate(sent, outcome.refused, now())));
  return false;
}
