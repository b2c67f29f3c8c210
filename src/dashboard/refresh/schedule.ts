import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '@trellis/core/concurrency';
import type { Database } from '../../storage/database.js';

/** How often the schedule is polled, for boards that another process has scheduled, or that a dead one has left. */
const POLL_MS = 1_000;

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
}

interface Scheduler {
  /** Starts polling. Resolves when all boards that are already due have been refreshed, or after 30 seconds. */
  start(): Promise<void>;
  /** Polls the schedule now. */
  wake(): void;
  /** Waits until polling has stopped. */
  readonly whenStopped: () => Promise<void>;
}

export function createScheduler({ database, now, signal, work, report }: SchedulerOptions): Scheduler {
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

  async function runDue(): Promise<void> {
    if (signal.aborted) return;
    const due = await listDueUsers(database, now(), MAX_DUE);
    await Promise.all(due.filter((personId) => !inProgress.has(personId)).map(begin));
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      waking = new AbortController();
      await sleep(POLL_MS, undefined, { signal: AbortSignal.any([signal, waking.signal]), ref: false }).catch(
        () => undefined,
      );
      void runDue().catch(report);
    }
  }

  return {
    async start() {
      await scheduleAllBoards(database, now()).catch(report);
      const first = runDue().catch(report);
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

/** Lists the users whose boards are due and have no lease, longest waiting first. */
async function listDueUsers(database: Database, at: number, most: number): Promise<string[]> {
  const rows = await database
    .selectFrom('refresh_schedule')
    .select('person_id')
    .where('look_at', '<=', at)
    .where('lease_until', '<=', at)
    .orderBy('look_at')
    .limit(most)
    .execute();
  return rows.map(({ person_id }) => person_id);
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
