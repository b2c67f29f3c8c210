import { readLocalState } from '../actions/local-state.js';
import { EMPTY_BOARD_SNAPSHOT } from '../boards/board.js';
import type { ForgeSettings } from '../settings/forge-settings.js';
import type { PullRequest } from '../forges/forge.js';
import type { Database } from '../../storage/database.js';
import type { RefreshContext } from './board-refresh.js';
import { composeBoard, FORGE_ORDER } from './compose-board.js';
import type { ComposedBoard } from './compose-board.js';
import { findStateExpiry } from './compose-board-snapshot.js';
import { nextReadAt } from './forge-refresh.js';
import { endLease, renewLease } from './lease.js';
import type { Lease } from './lease.js';
import { listSnapshots } from './repository-snapshots.js';
import { readForgeStatus } from './forge-status.js';
import { quotaPauseUntil } from './timing.js';

/** Limits the load of a single board, however much of it is due. */
const MIN_PAUSE_MS = 5_000;

export interface RefreshResult {
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
export async function finishRefresh(
  context: RefreshContext,
  lease: Lease,
  round: RefreshResult,
): Promise<readonly PullRequest[]> {
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
    const snapshot = composed?.snapshot ?? (isWhole ? EMPTY_BOARD_SNAPSHOT : undefined);
    rows = snapshot?.pullRequests ?? [];
    return snapshot;
  });
  return rows;
}

interface Round {
  readonly lease: Lease;
  readonly isWhole: boolean;
  readonly composed: ComposedBoard | undefined;
}

async function findNextTimes(transaction: Database, { intervalMs, now }: RefreshContext, round: Round) {
  const { lease, isWhole, composed } = round;
  const { personId } = lease;
  const at = now();
  const states = await readForgeStatus(transaction, personId);
  const dues: number[] = [];
  for (const forge of FORGE_ORDER) {
    const due = nextReadAt(states.get(forge), await listSnapshots(transaction, { personId, forge }), at);
    if (due !== undefined) dues.push(due);
  }
  const pauses = Array.from(states.values(), ({ budgets }) => quotaPauseUntil(budgets, at));
  const dueAt = isWhole ? Math.max(at + intervalMs, ...pauses) : lease.dueAt;
  const marksEnd = findStateExpiry(composed?.marks ?? (await readLocalState(transaction, personId, at)), at);
  return { dueAt, lookAt: Math.max(Math.min(dueAt, ...dues, marksEnd ?? dueAt), at + MIN_PAUSE_MS) };
}
