import { readMarks } from '../actions/marks.js';
import { EMPTY_SNAPSHOT } from '../board.js';
import type { ForgeSettings } from '../forge-settings.js';
import type { PullRequest } from '../forges/facts.js';
import type { Database } from '../../storage/database.js';
import type { RoundContext } from './board-round.js';
import { composeBoard, FORGES } from './compose-board.js';
import type { Composed } from './compose-board.js';
import { findMarksEnd } from './compose.js';
import { findDue } from './forge-round.js';
import { endLease, renewLease } from './lease.js';
import type { Lease } from './lease.js';
import { listKnown } from './readings.js';
import { readStates } from './states.js';
import { sparedUntil } from './timing.js';

/** Limits the load of a single board, however much of it is due. */
const MIN_PAUSE_MS = 5_000;

export interface RoundEnd {
  readonly settings: ForgeSettings | undefined;
  readonly isWhole: boolean;
  /** Whether the board has to be rebuilt. */
  readonly isNew: boolean;
}

/**
 * Saves the rebuilt board and ends the lease with the next due times, in one transaction, so that callers who wait for
 * the run find its board.
 *
 * @returns the pull requests of the board, if it was rebuilt.
 */
export async function endRound(context: RoundContext, lease: Lease, round: RoundEnd): Promise<readonly PullRequest[]> {
  const { boards, now } = context;
  const { personId } = lease;
  const { settings, isWhole, isNew } = round;
  let rows: readonly PullRequest[] = [];
  await boards.compose(personId, async (transaction) => {
    const at = now();
    await renewLease(transaction, lease, at);
    const composed = isNew && settings ? await composeBoard(transaction, personId, { settings, at }) : undefined;
    await endLease(transaction, lease, {
      ...(await findNextTimes(transaction, context, { lease, isWhole, composed })),
      isDone: isWhole,
    });
    const snapshot = composed?.snapshot ?? (isWhole ? EMPTY_SNAPSHOT : undefined);
    rows = snapshot?.pullRequests ?? [];
    return snapshot;
  });
  return rows;
}

interface Round {
  readonly lease: Lease;
  readonly isWhole: boolean;
  readonly composed: Composed | undefined;
}

async function findNextTimes(transaction: Database, { intervalMs, now }: RoundContext, round: Round) {
  const { lease, isWhole, composed } = round;
  const { personId } = lease;
  const at = now();
  const states = await readStates(transaction, personId);
  const dues: number[] = [];
  for (const forge of FORGES) {
    const due = findDue(states.get(forge), await listKnown(transaction, { personId, forge }), at);
    if (due !== undefined) dues.push(due);
  }
  const pauses = Array.from(states.values(), ({ budgets }) => sparedUntil(budgets, at));
  const dueAt = isWhole ? Math.max(at + intervalMs, ...pauses) : lease.dueAt;
  const marksEnd = findMarksEnd(composed?.marks ?? (await readMarks(transaction, personId, at)), at);
  return { dueAt, lookAt: Math.max(Math.min(dueAt, ...dues, marksEnd ?? dueAt), at + MIN_PAUSE_MS) };
}
