import { setTimeout as sleep } from 'node:timers/promises';
import { singleFlight, singleFlightWithTrailingRun } from '@trellis/core/concurrency';
import { AppError, rateLimitError } from '@trellis/core/errors';
import { type Caller, requireUser } from '../../accounts/callers.js';
import type { Database } from '../../storage/database.js';
import { type Board, type BoardSnapshot, EMPTY_BOARD_SNAPSHOT } from '../boards/board.js';
import type { BoardOptions, Boards } from '../boards/boards.js';
import type { OpenConnection } from '../forges/forge-clients.js';
import type { Forge, ForgeName, PullRequest } from '../forges/forge.js';
import { assertSettingsSaved, type ForgeSettings } from '../settings/settings-rows.js';
import { listOtherRepositories, type RefreshContext } from './board-refresh.js';
import { composeBoard } from './compose-board.js';
import { runRepositoryRefresh } from './forge-refresh.js';
import { clearForgeErrors } from './forge-status.js';
import { createBackgroundTasks, createRefreshWorker, type OnRefreshed } from './refresh-worker.js';
import { findReadingConnection, invalidateSnapshots } from './repository-snapshots.js';
import { createScheduler, scheduleNow } from './schedule.js';

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
  /** Schedules an immediate refresh, for example after an error of a forge. */
  refreshNow(personId: string): Promise<void>;
  /** Schedules an immediate refresh that reads every repository again, because the user's settings changed. */
  refreshSoon(personId: string): Promise<void>;
  /**
   * Starts to refresh boards as they come due. Resolves when the boards that are already due have been refreshed, or
   * after 30 seconds.
   */
  start(): Promise<void>;
  /** Looks for due boards at once. */
  wake(): void;
  /** Stops, and leaves unfinished boards to other processes. */
  close(): Promise<void>;
}

interface RefresherOptions {
  readonly database: Database;
  readonly boards: Pick<Boards, 'compose'>;
  /** Returns the user's forge settings; `undefined` if they have never saved any. */
  readonly findSettings: (personId: string) => Promise<ForgeSettings | undefined>;
  /** Returns the forges for which the user has a credential: the same objects until the settings change. */
  readonly getForges: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Returns the user's credentials with their clients, in the order of the board. */
  readonly getConnections: (personId: string) => Promise<readonly OpenConnection[]>;
  /** The time from the end of one refresh of a board to the next. */
  readonly intervalMs?: number;
  readonly onRefreshed?: OnRefreshed;
  /** Called after a board was made due. Its refresh runs in this process only if {@link Refresher.start} was called. */
  readonly onScheduled?: () => void;
  /** Whether processes that schedule boards call {@link Refresher.wake} of the others. */
  readonly isNotified?: () => boolean;
  /** Receives internal errors, but not those of forges. */
  readonly report?: (error: unknown) => void;
  readonly now?: () => number;
}

/** The largest age of changes that no webhook reports. */
export const INTERVAL_MS = 20 * 60_000;

/** How long to wait for work in progress when the server shuts down. */
const CLOSE_MS = 1_000;

export function createRefresher(options: RefresherOptions): Refresher {
  const {
    database,
    boards,
    findSettings,
    getForges,
    getConnections,
    intervalMs = INTERVAL_MS,
    now = Date.now,
  } = options;
  const { report = () => undefined, onRefreshed, onScheduled, isNotified = () => false } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const context: RefreshContext = {
    database,
    boards,
    findSettings,
    getForges,
    getConnections,
    intervalMs,
    now,
    signal,
  };
  const followUps = createBackgroundTasks(onRefreshed, report);
  const work = createRefreshWorker(context, { followUps, report });
  const [ofBoard, ofRepository] = [singleFlightWithTrailingRun(), singleFlightWithTrailingRun()];
  const ofCompose = singleFlightWithTrailingRun<readonly PullRequest[]>();
  const scheduler = createScheduler({
    ...{ database, now, signal, report, isNotified },
    work: (personId) => work.refreshDue(personId),
  });

  async function schedule(personId: string): Promise<void> {
    await clearForgeErrors(database, personId);
    await scheduleNow(database, personId, now());
    scheduler.wake();
    onScheduled?.();
  }

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
    const connections = (await getConnections(personId)).filter((one) => one.forge === name);
    const ids = connections.map(({ id }) => id);
    const id = await findReadingConnection(database, personId, { connections: ids, fullName });
    const connection = connections.find((one) => one.id === id) ?? connections[0];
    if (forge === undefined || connection === undefined) return;
    const place = { personId, forge: name, connection: connection.id };
    const listOthers = listOtherRepositories(database, personId, { connections, connection });
    const isChanged = await runRepositoryRefresh(context, place, { forge: connection.client, fullName, listOthers });
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
    refreshNow: schedule,
    async refreshSoon(personId) {
      await invalidateSnapshots(database, personId);
      await schedule(personId);
    },
    start: () => scheduler.start(),
    wake: () => scheduler.wake(),
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

/** Forges allow a few thousand requests per hour, and one refresh of a large board takes dozens. */
const COOLDOWN_MS = 30_000;

export interface Refreshes {
  /**
   * Refreshes the caller's board, and returns it afterwards. Concurrent calls in this process share one refresh.
   *
   * @throws AppError `not_found` until the caller has saved forge settings, `rate_limited` within 30 seconds of the
   * last refresh in any process.
   */
  run(caller: Caller | undefined, options: Pick<BoardOptions, 'includeDrafts' | 'includeSnoozed'>): Promise<Board>;
}

interface RefreshesOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Reads the user's forges and saves the board. */
  readonly refresh: (personId: string) => Promise<void>;
  readonly now?: () => number;
}

export function createRefreshes({ database, boards, refresh, now = Date.now }: RefreshesOptions): Refreshes {
  const once = singleFlight<undefined>();
  return {
    async run(caller, options) {
      const { personId } = requireUser(caller);
      await once(personId, async () => {
        await assertSettingsSaved(database, personId);
        await claimRefresh(database, personId, now());
        await refresh(personId);
        return undefined;
      });
      return boards.read(caller, options);
    },
  };
}

/** Claims the cooldown in one statement, so that only one of several processes succeeds. */
async function claimRefresh(database: Database, personId: string, at: number): Promise<void> {
  const { numUpdatedRows } = await database
    .updateTable('settings')
    .set({ refreshed_at: at })
    .where('person_id', '=', personId)
    .where((or) => or.or([or('refreshed_at', 'is', null), or('refreshed_at', '<=', at - COOLDOWN_MS)]))
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const settings = database.selectFrom('settings').select('refreshed_at').where('person_id', '=', personId);
  const { refreshed_at } = await settings.executeTakeFirstOrThrow();
  throw cooldownError((refreshed_at ?? at) + COOLDOWN_MS - at);
}

function cooldownError(milliseconds: number): AppError {
  // The bounds also cover clocks that were set back.
  const windowSeconds = COOLDOWN_MS / 1000;
  const resetSeconds = Math.min(Math.max(Math.ceil(milliseconds / 1000), 1), windowSeconds);
  const message = `Boards can be refreshed every ${windowSeconds} seconds. Retry in ${resetSeconds} s.`;
  return rateLimitError(message, { limit: 1, windowSeconds, resetSeconds });
}
