import type { components } from '../../generated/dashboard/types.js';
import { toResumedState, toStoppedState, toAttemptState, isMergeDue } from '../actions/auto-merge.js';
import type { AutoMergeState } from '../actions/auto-merge.js';
import { hideFromBoard, isClosedAtForge } from '../actions/effects.js';
import { sendAutomaticAction } from './send-automatic-action.js';
import type { AutomationInput } from './send-automatic-action.js';
import { updateState, findState, saveState } from '../actions/state-entries.js';
import { ActionNotDueError } from '../actions/send-action-once.js';

type AutoMerged = components['schemas']['AutoMergedPullRequest'];

/** How long the board lists an auto-merged pull request. */
const NEWS_MS = 600_000;

/** Merges a pull request with auto-merge if a refresh shows that it is ready. @returns whether the board changed. */
export async function runAutoMerge(followed: AutomationInput, known: AutoMergeState): Promise<boolean> {
  const { database, address, row, now } = followed;
  const state = toResumedState(known, row);
  const keep = (kept: AutoMergeState) => updateState(database, address, { kind: 'auto_merge', state: kept });
  if (!isMergeDue(state, row, now())) {
    if (state !== known) await keep(state);
    return state !== known;
  }
  const outcome = await sendAutomaticAction(followed, 'merge', {
    async assertDue() {
      const newest = await findState(database, address, { kind: 'auto_merge', at: now() });
      // The cast is safe: the kind of the entry determines its type.
      if (newest === undefined || !isMergeDue(toResumedState(newest as AutoMergeState, row), row, now()))
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
