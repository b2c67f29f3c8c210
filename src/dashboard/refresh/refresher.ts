import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.js';
import type { Database } from '../../storage/database.js';
import { EMPTY_BOARD_SNAPSHOT } from '../boards/board.js';
import type { BoardSnapshot } from '../boards/board.js';
import type { Boards } from '../boards/boards.js';
import type { ForgeSettings } from '../settings/forge-settings.js';
import type { ForgeName, PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import type { RefreshContext } from './board-refresh.js';
import { createRefreshWorker } from './refresh-worker.js';
import { singleFlightWithTrailingRun } from '../../core/concurrency.js';
import { composeBoard } from './compose-board.js';
import { createBackgroundTasks } from './background-tasks.js';
import { invalidateSnapshots } from './repository-snapshots.js';
import { runRepositoryRefresh } from './repository-refresh.js';
import { scheduleNow } from './schedule.js';
import { createScheduler } from './scheduler.js';
import { clearForgeErrors } from './forge-status.js';

/** Refreshes boards: reads users' forges and rebuilds their boards. */
export interface Refresher {
  /**
   * Refreshes the user's whole board, in a run that starts after the call. All calls during a run, in any process,
   * share the next run. The board shows errors of forges; they are not thrown.
   *
   * @throws AppError `unavailable` if the server shuts down.
   */
  refresh(personId: string): Promise<void>;
  /**
   * Reads one repository and rebuilds the board. Calls for the same repository during a run share the next one. Does
   * nothing without a credential for the forge.
   *
   * @throws ForgeError if the repository can't be read; it is then read again within a few minutes.
   */
  refreshRepository(personId: string, forge: ForgeName, fullName: string): Promise<void>;
  /** Rebuilds the board from the stored snapshots and local state, and notifies its subscribers. */
  rebuildBoard(personId: string): Promise<void>;
  /** Schedules an immediate refresh that reads every repository again, because the user's settings changed. */
  refreshSoon(personId: string): Promise<void>;
  /**
   * Starts to refresh boards as they come due. Resolves when the boards that are already due have been refreshed, or
   * after 30 seconds.
   */
  start(): Promise<void>;
  /** Stops, and leaves unfinished boards to other processes. */
  close(): Promise<void>;
}

/**
 * Called after every refresh with the forges that were read, and their rows of the board; after the refresh of one
 * repository, with the rows of that repository. Calls for the same user can overlap, also across processes, so actions
 * must be claimed before they are sent. Must not wait for a refresh.
 */
export type OnRefreshed = (
  personId: string,
  forges: ReadonlyMap<ForgeName, Forge>,
  rows: readonly PullRequest[],
) => Promise<void>;

export interface RefresherOptions {
  readonly database: Database;
  readonly boards: Pick<Boards, 'compose'>;
  /** Returns the user's forge settings; `undefined` if they have never saved any. */
  readonly findSettings: (personId: string) => Promise<ForgeSettings | undefined>;
  /** Returns the forges for which the user has a credential: the same objects until the settings change. */
  readonly getForges: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  /** The time from the end of one refresh of a board to the next. */
  readonly intervalMs?: number | undefined;
  readonly onRefreshed?: OnRefreshed | undefined;
  /** Receives internal errors, but not those of forges. */
  readonly report?: ((error: unknown) => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** The largest age of changes that no webhook reports. */
const INTERVAL_MS = 20 * 60_000;

/** How long to wait for work in progress when the server shuts down. */
const CLOSE_MS = 1_000;

export function createRefresher(options: RefresherOptions): Refresher {
  const { database, boards, findSettings, getForges, intervalMs = INTERVAL_MS, now = Date.now } = options;
  const { report = () => undefined, onRefreshed } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const context: RefreshContext = { database, boards, findSettings, getForges, intervalMs, now, signal };
  const followUps = createBackgroundTasks(onRefreshed, report);
  const work = createRefreshWorker(context, { followUps, report });
  const [ofBoard, ofRepository] = [singleFlightWithTrailingRun(), singleFlightWithTrailingRun()];
  const ofCompose = singleFlightWithTrailingRun<readonly PullRequest[]>();
  const scheduler = createScheduler({ database, now, signal, work: (personId) => work.refreshDue(personId), report });

  /** Rebuilds the board. @returns its pull requests. */
  const compose = (personId: string) => ofCompose(personId, () => composeNow(personId));

  async function composeNow(personId: string): Promise<readonly PullRequest[]> {
    const settings = await findSettings(personId);
    let rows: readonly PullRequest[] = [];
    if (settings === undefined) return rows;
    await boards.compose(personId, async (transaction) => {
      const composed = await composeBoard(transaction, personId, { settings, at: now() });
      const snapshot = composed?.snapshot ?? (await toEmptied(transaction, personId));
      rows = snapshot?.pullRequests ?? [];
      return snapshot;
    });
    return rows;
  }

  async function readRepository(personId: string, name: ForgeName, fullName: string): Promise<void> {
    const forge = (await getForges(personId)).get(name);
    if (forge === undefined) return;
    const isChanged = await runRepositoryRefresh(context, { personId, forge: name }, { forge, fullName });
    if (!isChanged) return;
    const rows = await compose(personId);
    const own = rows.filter((row) => row.forge === name && row.repo === fullName);
    followUps.start(personId, new Map([[name, forge]]), own);
  }

  return {
    refresh: (personId) =>
      orStopped(
        signal,
        ofBoard(personId, () => work.refreshAll(personId)),
      ),
    refreshRepository: (personId, forge, fullName) =>
      ofRepository(JSON.stringify([personId, forge, fullName]), () => readRepository(personId, forge, fullName)),
    rebuildBoard: (personId) => compose(personId).then(() => undefined),
    async refreshSoon(personId) {
      await invalidateSnapshots(database, personId);
      await clearForgeErrors(database, personId);
      await scheduleNow(database, personId, now());
      scheduler.wake();
    },
    start: () => scheduler.start(),
    async close() {
      stopped.abort();
      await scheduler.whenStopped();
      const ended = Promise.all([work.close(), followUps.close()]);
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Returns an empty snapshot for a board whose forges were all removed; `undefined` if there is no board yet. */
async function toEmptied(transaction: Database, personId: string): Promise<BoardSnapshot | undefined> {
  const boards = transaction.selectFrom('boards').select('person_id').where('person_id', '=', personId);
  return (await boards.executeTakeFirst()) && EMPTY_BOARD_SNAPSHOT;
}

/** Waits for a run. @throws AppError `unavailable` as soon as the server shuts down. */
async function orStopped(signal: AbortSignal, run: Promise<void>): Promise<void> {
  const throwStopped = (): never => {
    throw new AppError('unavailable', 'The server is shutting down.');
  };
  if (signal.aborted) throwStopped();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => resolve();
    signal.addEventListener('abort', stop, { once: true });
    run.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
  if (signal.aborted) throwStopped();
}
