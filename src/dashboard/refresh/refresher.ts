import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import { EMPTY_SNAPSHOT } from '../board.js';
import type { Snapshot } from '../board.js';
import type { Boards } from '../boards.js';
import type { ForgeSettings } from '../forge-settings.js';
import type { ForgeName, PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import type { RoundContext } from './board-round.js';
import { createBoardWork } from './board-work.js';
import { coalesced } from './coalesced.js';
import { composeBoard } from './compose-board.js';
import { createFollowUps } from './follow-ups.js';
import { markUnread } from './readings.js';
import { runRepositoryRound } from './repository-round.js';
import { scheduleNow } from './schedule.js';
import { createScheduler } from './scheduler.js';
import { forgetFailures } from './states.js';

/** Reads people's forges, and makes their boards of what it read. */
export interface Refresher {
  /**
   * Reads the whole board of a person, in a run that starts after the call: whoever calls while one is under way, in
   * any process, shares the next. What fails at a forge is on the board, not thrown.
   *
   * @throws AppError `unavailable` when the server stops.
   */
  refresh(personId: string): Promise<void>;
  /**
   * Reads one repository and composes the board; calls for the same one are coalesced. Does nothing without a
   * credential for the forge.
   *
   * @throws ForgeError when the forge can't be asked; then the repository is read again within some minutes.
   */
  refreshRepository(personId: string, forge: ForgeName, fullName: string): Promise<void>;
  /** Composes the board of what was read and of what is marked on it, and tells its streams. */
  recompose(personId: string): Promise<void>;
  /** A person's settings are others now: everything is read again, at once. */
  expedite(personId: string): Promise<void>;
  /** Starts to refresh boards as they come due. @returns when those that are due already have been, or after 30 seconds. */
  start(): Promise<void>;
  /** Leaves what is under way to other processes. */
  close(): Promise<void>;
}

/**
 * Is told after every reading: the forges that answered, and the rows of their part of the board, of one repository
 * when only that was read. It may be called for the same person at the same time, here and in other processes, so what
 * it sends has to be claimed first. It must not wait for a refresh.
 */
export type OnRefreshed = (
  personId: string,
  forges: ReadonlyMap<ForgeName, Forge>,
  rows: readonly PullRequest[],
) => Promise<void>;

export interface RefresherOptions {
  readonly database: Database;
  readonly boards: Pick<Boards, 'compose'>;
  /** Gives what a person told us of their forges; `undefined` when they never did. */
  readonly findSettings: (personId: string) => Promise<ForgeSettings | undefined>;
  /** Gives the forges for which a person has a credential, the same ones as long as the settings stay. */
  readonly forgesOf: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  /** From the end of one refresh of a board to the next. */
  readonly intervalMs?: number | undefined;
  readonly onRefreshed?: OnRefreshed | undefined;
  /** Is told of what went wrong here, not at forges. */
  readonly report?: ((error: unknown) => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** Webhooks tell of most changes at once; the rest may be so old. */
const INTERVAL_MS = 20 * 60_000;

/** How long what is under way may take to notice that the server stops. */
const CLOSE_MS = 1_000;

export function createRefresher(options: RefresherOptions): Refresher {
  const { database, boards, findSettings, forgesOf, intervalMs = INTERVAL_MS, now = Date.now } = options;
  const { report = () => undefined, onRefreshed } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const context: RoundContext = { database, boards, findSettings, forgesOf, intervalMs, now, signal };
  const followUps = createFollowUps(onRefreshed, report);
  const work = createBoardWork(context, { followUps, report });
  const [ofBoard, ofRepository] = [coalesced(), coalesced()];
  const ofCompose = coalesced<readonly PullRequest[]>();
  const scheduler = createScheduler({ database, now, signal, work: (personId) => work.doDue(personId), report });

  /** @returns the pull requests of the board that was made. */
  const compose = (personId: string) => ofCompose(personId, () => composeNow(personId));

  async function composeNow(personId: string): Promise<readonly PullRequest[]> {
    const settings = await findSettings(personId);
    let rows: readonly PullRequest[] = [];
    if (settings === undefined) return rows;
    await boards.compose(personId, async (transaction) => {
      const composed = await composeBoard(transaction, personId, { settings, at: now() });
      const snapshot = composed?.snapshot ?? (await emptied(transaction, personId));
      rows = snapshot?.pullRequests ?? [];
      return snapshot;
    });
    return rows;
  }

  async function readRepository(personId: string, name: ForgeName, fullName: string): Promise<void> {
    const forge = (await forgesOf(personId)).get(name);
    if (forge === undefined) return;
    const isChanged = await runRepositoryRound(context, { personId, forge: name }, { forge, fullName });
    if (!isChanged) return;
    const rows = await compose(personId);
    const own = rows.filter((row) => row.forge === name && row.repo === fullName);
    followUps.begin(personId, new Map([[name, forge]]), own);
  }

  return {
    refresh: (personId) =>
      orStopped(
        signal,
        ofBoard(personId, () => work.doWhole(personId)),
      ),
    refreshRepository: (personId, forge, fullName) =>
      ofRepository(JSON.stringify([personId, forge, fullName]), () => readRepository(personId, forge, fullName)),
    recompose: (personId) => compose(personId).then(() => undefined),
    async expedite(personId) {
      await markUnread(database, personId);
      await forgetFailures(database, personId);
      await scheduleNow(database, personId, now());
      scheduler.wake();
    },
    start: () => scheduler.start(),
    async close() {
      stopped.abort();
      await scheduler.ended();
      const ended = Promise.all([work.close(), followUps.close()]);
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** A board whose forges are all gone shows nothing; one that was never made stays so. */
async function emptied(transaction: Database, personId: string): Promise<Snapshot | undefined> {
  const boards = transaction.selectFrom('boards').select('person_id').where('person_id', '=', personId);
  return (await boards.executeTakeFirst()) && EMPTY_SNAPSHOT;
}

/** Whoever waits is told when it is in vain. */
async function orStopped(signal: AbortSignal, run: Promise<void>): Promise<void> {
  const refuse = (): never => {
    throw new AppError('unavailable', 'Expected a server that goes on; this one stops.');
  };
  if (signal.aborted) refuse();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => resolve();
    signal.addEventListener('abort', stop, { once: true });
    run.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
  if (signal.aborted) refuse();
}
