import { type Database, isPostgres } from './database.js';
import { sql } from './kysely.js';

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
