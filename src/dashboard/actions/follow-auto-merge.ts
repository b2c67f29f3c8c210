import type { components } from '../../generated/dashboard/types.js';
import { afterChange, afterRefusal, beforeAttempt, isDue } from './auto-merge.js';
import type { AutoMergeState } from './auto-merge.js';
import { holdOff, isGone } from './effects.js';
import { sendUnattended } from './follow.js';
import type { Followed } from './follow.js';
import { changeMark, findMark, saveMark } from './keep-marks.js';
import { NotDue } from './send-once.js';

type AutoMerged = components['schemas']['AutoMergedPullRequest'];

/** How long the board lists an auto-merged pull request. */
const NEWS_MS = 600_000;

/** Merges a pull request with auto-merge if a refresh shows that it is ready. @returns whether the board changed. */
export async function followAutoMerge(followed: Followed, known: AutoMergeState): Promise<boolean> {
  const { database, address, row, now } = followed;
  const state = afterChange(known, row);
  const keep = (kept: AutoMergeState) => changeMark(database, address, { kind: 'auto_merge', state: kept });
  if (!isDue(state, row, now())) {
    if (state !== known) await keep(state);
    return state !== known;
  }
  const outcome = await sendUnattended(followed, 'merge', {
    async requireDue() {
      const newest = await findMark(database, address, { kind: 'auto_merge', at: now() });
      // The cast is safe: the kind of the entry determines its type.
      if (newest === undefined || !isDue(afterChange(newest as AutoMergeState, row), row, now())) throw new NotDue();
      await keep(beforeAttempt(row, now()));
    },
    keep: () => keepMerged(followed),
  });
  if (typeof outcome === 'string') return outcome === 'sent';
  if (isGone(outcome.refused)) await holdOff(database, address, now());
  else await keep(afterRefusal(outcome.refused, row, now()));
  return true;
}

/** Runs after the forge has confirmed the merge, because only then the auto-merge request may be removed. */
async function keepMerged({ database, address, row, now }: Followed): Promise<void> {
  const at = now();
  const news: AutoMerged = {
    forge: address.forge,
    fullName: row.repo,
    number: address.number,
    mergedAt: new Date(at).toISOString(),
    message: `Auto-merged: ${row.title}`,
  };
  await saveMark(database, address, { kind: 'auto_merged', state: news, expiresAt: at + NEWS_MS });
  await holdOff(database, address, at);
}
