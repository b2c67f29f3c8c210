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

/** Whatever is due, no board keeps a server busy all the time. */
const MIN_PAUSE_MS = 5_000;

export interface RoundEnd {
  readonly settings: ForgeSettings | undefined;
  readonly isWhole: boolean;
  /** The board has to be made anew. */
  readonly isNew: boolean;
}

/**
 * Makes the board, and ends the lease with what is to come, in one transaction:
 * whoever waits for the round finds its board.
 *
 * @returns the pull requests of a board that was made.
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
      ...(await findComing(transaction, context, { lease, isWhole, composed })),
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

async function findComing(transaction: Database, { intervalMs, now }: RoundContext, round: Round) {
  const { lease, isWhole, composed } = round;
  const { personId } = lease;
  const at = now();
  const states = await readStates(transaction, personId);
  const dues: number[] = [];
  for (const forge of FORGES) {
    const due = findDue(states.get(forge), await listKnown(transaction, { personId, forge }), at);
    if (due !== undefined) dues.push(due);
  }
  const spared = Array.from(states.values(), ({ budgets }) => sparedUntil(budgets, at));
  const dueAt = isWhole ? Math.max(at + intervalMs, ...spared) : lease.dueAt;
  const marksEnd = findMarksEnd(composed?.marks ?? (await readMarks(transaction, personId, at)), at);
  return { dueAt, lookAt: Math.max(Math.min(dueAt, ...dues, marksEnd ?? dueAt), at + MIN_PAUSE_MS) };
}
