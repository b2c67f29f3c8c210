import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '@trellis/core/concurrency';
import type { Database } from '../../storage/database.js';

/** How often the schedule is polled, for boards that another process has scheduled, or that a dead one has left. */
const POLL_MS = 1_000;

/** The same while other processes notify this one. Boards that become due in between are refreshed in time. */
const NOTIFIED_POLL_MS = 5_000;

/** Boards that are refreshed concurrently, each with a few requests to each forge. */
const MAX_CONCURRENT = 4;

/** More than can be refreshed in a second. */
const MAX_DUE = 100;

/** The longest delay of a server's start. Boards that are not ready by then show their previous version. */
const START_TIMEOUT_MS = 30_000;

interface SchedulerOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Refreshes the due parts of a board, unless another process does so. Must not throw. */
  readonly work: (personId: string) => Promise<void>;
  readonly report: (error: unknown) => void;
  /** Whether processes that schedule boards call {@link Scheduler.wake}. */
  readonly isNotified: () => boolean;
}

interface Scheduler {
  /** Starts polling. Resolves when all boards that are already due have been refreshed, or after 30 seconds. */
  start(): Promise<void>;
  /** Polls the schedule now. */
  wake(): void;
  /** Waits until polling has stopped. */
  readonly whenStopped: () => Promise<void>;
}

export function createScheduler({ database, now, signal, work, report, isNotified }: SchedulerOptions): Scheduler {
  const run = limitConcurrency(MAX_CONCURRENT);
  const inProgress = new Map<string, Promise<void>>();
  let waking = new AbortController();
  let loop: Promise<void> | undefined;

  function begin(personId: string): Promise<void> {
    const started = run(async () => (signal.aborted ? undefined : work(personId)));
    const one = started.finally(() => inProgress.delete(personId));
    inProgress.set(personId, one);
    return one;
  }

  /** Begins to refresh the due boards. @returns the time to the next poll. */
  async function runDue(): Promise<{ readonly pauseMs: number; readonly ended: Promise<unknown> }> {
    const at = now();
    const boards = signal.aborted ? [] : await listNextBoards(database, at, at + NOTIFIED_POLL_MS);
    const due = boards.filter(({ look_at, person_id }) => look_at <= at && !inProgress.has(person_id));
    const ended = Promise.all(due.map(({ person_id }) => begin(person_id)));
    const next = boards.find(({ look_at }) => look_at > at)?.look_at ?? Infinity;
    // A board that is being refreshed may be due again before the next poll.
    const everyMs = isNotified() && inProgress.size === 0 ? NOTIFIED_POLL_MS : POLL_MS;
    return { pauseMs: Math.min(everyMs, next - at), ended };
  }

  async function poll(): Promise<void> {
    let pauseMs = POLL_MS;
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, waking.signal]);
      const isWoken = await sleep(pauseMs, false, { signal: either, ref: false }).catch(() => true);
      // Before the poll, so that a call during it causes a further one.
      waking = new AbortController();
      try {
        const { pauseMs: untilNext, ended } = await runDue();
        ended.catch(report);
        // A call may precede the commit of the transaction that schedules the board.
        pauseMs = isWoken ? Math.min(untilNext, POLL_MS) : untilNext;
      } catch (error) {
        report(error);
        pauseMs = POLL_MS;
      }
    }
  }

  return {
    async start() {
      await scheduleAllBoards(database, now()).catch(report);
      const first = runDue()
        .then(({ ended }) => ended)
        .catch(report);
      loop = poll();
      await Promise.race([first, sleep(START_TIMEOUT_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    },
    wake: () => waking.abort(),
    whenStopped: async () => loop,
  };
}

interface RefreshProgress {
  /** How many times the lease of the board was acquired. */
  readonly begun: number;
  /** The number of the last run that read the whole board. */
  readonly done: number;
}

/** Schedules the boards of all users who have saved forge settings but are not on the schedule, as after a restore. */
async function scheduleAllBoards(database: Database, at: number): Promise<void> {
  const saved = database
    .selectFrom('settings')
    .select((of) => ['person_id', of.val(at).as('due_at'), of.val(at).as('look_at')])
    .where('saved_at', 'is not', null);
  await database
    .insertInto('refresh_schedule')
    .columns(['person_id', 'due_at', 'look_at'])
    .expression(saved)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Makes the user's whole board due. */
export async function scheduleNow(database: Database, personId: string, at: number): Promise<void> {
  const due = { due_at: at, look_at: at };
  await database
    .insertInto('refresh_schedule')
    .values({ person_id: personId, lease_holder: null, lease_until: 0, runs_begun: 0, run_done: 0, ...due })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(due))
    .execute();
}

/** Schedules a check of a board at that time, in milliseconds, unless an earlier one is scheduled. */
export async function scheduleBefore(database: Database, personId: string, at: number): Promise<void> {
  await database
    .updateTable('refresh_schedule')
    .set({ look_at: at })
    .where('person_id', '=', personId)
    .where('look_at', '>', at)
    .execute();
}

/** Lists boards without a lease that are due until a time, longest waiting first. */
async function listNextBoards(database: Database, at: number, until: number) {
  return database
    .selectFrom('refresh_schedule')
    .select(['person_id', 'look_at'])
    .where('look_at', '<=', until)
    .where('lease_until', '<=', at)
    .orderBy('look_at')
    .limit(MAX_DUE)
    .execute();
}

/** The refreshes of all boards, in any process. */
export interface RefreshCounts {
  /** The boards that are due and that no process refreshes. */
  readonly due: number;
  /** The boards that a process refreshes. */
  readonly running: number;
  /** How long the longest waiting board has been due. */
  readonly lagMs: number;
}

export async function countRefreshes(database: Database, at: number): Promise<RefreshCounts> {
  const waiting = await database
    .selectFrom('refresh_schedule')
    .select(({ fn }) => [fn.countAll<number>().as('due'), fn.min<number | null>('look_at').as('since')])
    .where('look_at', '<=', at)
    .where('lease_until', '<=', at)
    .executeTakeFirstOrThrow();
  const { running } = await database
    .selectFrom('refresh_schedule')
    .select(({ fn }) => fn.countAll<number>().as('running'))
    .where('lease_until', '>', at)
    .executeTakeFirstOrThrow();
  return { due: waiting.due, running, lagMs: at - (waiting.since ?? at) };
}

/** Returns `undefined` if the user does not exist or has never saved forge settings. */
export async function findProgress(database: Database, personId: string): Promise<RefreshProgress | undefined> {
  const row = await database
    .selectFrom('refresh_schedule')
    .select(['runs_begun', 'run_done'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row && { begun: row.runs_begun, done: row.run_done };
}
