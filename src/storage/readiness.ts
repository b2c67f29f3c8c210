import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@trellis/core/errors';
import { FAULT_TEXTS, findStorageFault } from '@trellis/core/storage';
import { type Database, toDatabaseError, isPostgres } from './database.js';
import { sql } from './kysely.js';

/** A database or a disk that takes longer to respond counts as unavailable. */
const PROBE_TIMEOUT_MS = 2_000;

/** Probes often arrive together, so they share one result. */
const REUSE_MS = 3_000;

/** A query that hangs is joined by no other for this time, or they would use up the connections. */
const HANGING_MS = 30_000;

/** The writes of a probe reach the disk, so they are less frequent than its queries while they succeed. */
const WRITE_EVERY_MS = 15_000;

export interface Readiness {
  /**
   * Returns the number of open sockets, timers and requests of the process, at least 1.
   *
   * @throws AppError `unavailable` with the reason unless {@link isReady}.
   */
  require(): Promise<{ readonly openResources: number }>;
  /**
   * Returns whether requests can be served: startup is complete, the database and the state folder can be read and
   * written, and the server is not stopping.
   */
  isReady(): Promise<boolean>;
  /** Makes the server unready until the promise settles. */
  waitFor(start: Promise<unknown>): void;
  /** Makes the server unready for good, so that load balancers use other servers while this one still serves. */
  drain(): void;
  /** Like {@link drain}; also ends the event streams. */
  stop(): void;
  /** Aborted by {@link stop}. */
  readonly stopping: AbortSignal;
}

export interface ReadinessOptions {
  /** The state folder, in which a probe writes a file; absent for no such probe. */
  readonly state?: string;
  /** A clock in milliseconds that is never set back. */
  readonly now?: () => number;
}

export function createReadiness(database: Database, { state, now = performanceNow }: ReadinessOptions = {}): Readiness {
  const stopping = new AbortController();
  // Every open event stream adds a listener.
  setMaxListeners(0, stopping.signal);
  const findProblem = createProbe(database, { state, now });
  let isDraining = false;
  let starting = 0;
  const findStop = (): string | undefined => (isDraining ? 'The server is stopping.' : undefined);
  const findReason = async (): Promise<string | undefined> => {
    const stop = findStop();
    if (stop !== undefined) return stop;
    if (starting > 0) return 'The server is starting.';
    const problem = await findProblem();
    // The server may have begun to stop in the meantime.
    return findStop() ?? problem;
  };
  return {
    isReady: async () => (await findReason()) === undefined,
    async require() {
      const reason = await findReason();
      if (reason !== undefined) throw new AppError('unavailable', reason, { headers: { 'Retry-After': '5' } });
      return { openResources: Math.max(1, process.getActiveResourcesInfo().length) };
    },
    waitFor(start) {
      starting += 1;
      const end = (): void => void (starting -= 1);
      void start.then(end, end);
    },
    drain: () => void (isDraining = true),
    stop() {
      isDraining = true;
      stopping.abort();
    },
    stopping: stopping.signal,
  };
}

const performanceNow = (): number => performance.now();

/** Creates the function that returns why requests can't be served, in a sentence; `undefined` if they can. */
function createProbe(
  database: Database,
  { state, now }: { readonly state: string | undefined; readonly now: () => number },
): () => Promise<string | undefined> {
  const key = `readiness ${randomUUID()}`;
  let last: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined;
  let isPending = false;
  let writtenAt = -Infinity;

  async function probe(): Promise<string | undefined> {
    const isDue = now() - writtenAt >= WRITE_EVERY_MS;
    isPending = true;
    try {
      await (isDue ? writeDatabase(database, key) : readDatabase(database));
    } catch (error) {
      return describe('database', toDatabaseError(error));
    } finally {
      isPending = false;
    }
    if (!isDue) return undefined;
    const problem = await (state === undefined ? undefined : writeFolder(state));
    if (problem === undefined) writtenAt = now();
    return problem;
  }

  return () => {
    if (last !== undefined && now() - last.at < (isPending ? HANGING_MS : REUSE_MS)) return last.problem;
    last = { at: now(), problem: withinLimit(probe()) };
    return last.problem;
  };
}

async function withinLimit(problem: Promise<string | undefined>): Promise<string | undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const late = 'The database or the disk of the state folder does not respond.';
  const timeout = sleep(PROBE_TIMEOUT_MS, late, { signal }).catch(() => late);
  const first = await Promise.race([problem, timeout]);
  controller.abort();
  return first;
}

const readDatabase = (database: Database): Promise<unknown> =>
  database.selectFrom('people').select('id').limit(1).execute();

/** Writes a row that this process alone uses. The hourly cleanup deletes it after the process has ended. */
async function writeDatabase(database: Database, key: string): Promise<void> {
  const row = { taken: 0, ends_at: Date.now() + WRITE_EVERY_MS };
  await database
    .insertInto('rate_counts')
    .values({ key, ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute();
}

/** Small files may still fit on a disk that is full for all others. */
const PROBE_BYTES = 65_536;

async function writeFolder(state: string): Promise<string | undefined> {
  const file = join(state, '.probe');
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(PROBE_BYTES));
      await handle.datasync();
    } finally {
      await handle.close();
    }
    return undefined;
  } catch (error) {
    return describe('state folder', error);
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** Names the fault without paths, hosts or names, because anyone may read it. */
function describe(part: string, error: unknown): string {
  const fault = findStorageFault(error);
  return fault === undefined
    ? `The ${part} of the server is unavailable.`
    : `The ${part} of the server can't be written: ${FAULT_TEXTS[fault]}.`;
}

/** The time that all servers of a database share, because their own clocks differ. */
export interface DatabaseClock {
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  close(): void;
}

/** How often the time is read again. Meanwhile, a monotonic clock continues it. */
const SYNC_MS = 15_000;

/** A reading that took longer is too inexact to replace an earlier one. */
const MAX_ROUND_TRIP_MS = 1_000;

/** Starts the clock: that of PostgreSQL, or the clock of this server for SQLite, which only one server uses. */
export async function startDatabaseClock(database: Database): Promise<DatabaseClock> {
  if (!isPostgres(database)) return { now: Date.now, close: () => undefined };
  let { offset } = await readOffset(database);
  const sync = async (): Promise<void> => {
    const read = await readOffset(database);
    if (read.roundTripMs <= MAX_ROUND_TRIP_MS) ({ offset } = read);
  };
  // While the database is unavailable, the last reading counts.
  const timer = setInterval(() => void sync().catch(() => undefined), SYNC_MS).unref();
  return { now: () => Math.round(performance.now() + offset), close: () => clearInterval(timer) };
}

/** Returns the difference between the time of the database and the monotonic clock. */
async function readOffset(database: Database) {
  const startedAt = performance.now();
  const time = await readDatabaseTime(database);
  const endedAt = performance.now();
  return { offset: time - (startedAt + endedAt) / 2, roundTripMs: endedAt - startedAt };
}

/** Returns the time of the database, in milliseconds since the epoch. */
export async function readDatabaseTime(database: Database): Promise<number> {
  if (!isPostgres(database)) return Date.now();
  const milliseconds = sql`floor(extract(epoch from clock_timestamp()) * 1000)`;
  const { rows } = await sql<{ now: string }>`select ${milliseconds} as now`.execute(database);
  return Number(rows[0]?.now);
}
