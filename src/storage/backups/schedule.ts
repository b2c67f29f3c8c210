/** Scheduled backups: one server at a time creates them, by a lease in the database, and deletes old ones. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Gauge } from '@trellis/core/telemetry';
import { type Database, inTransaction } from '../database.js';
import type { AwsEnvironment } from '../objects/s3-location.js';
import type { DatabaseTargetConfig } from '../open-database.js';
import { readDatabaseTime } from '../readiness.js';
import { toWorkPrefix } from './archive.js';
import { type BackupTarget, openBackupTarget, type StoredBackup } from './target.js';

const NAME = /^trellis-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.backup(?:\.age)?$/;

/** Returns the name of a scheduled backup, by which the names sort in the order of time. */
export const toBackupName = (at: Date, isEncrypted: boolean): string =>
  `trellis-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup${isEncrypted ? '.age' : ''}`;

/**
 * Lists the backups with the names of {@link toBackupName}, the latest first. Their times are those of their names, as copies of
 * files have others.
 */
export async function listBackups(target: BackupTarget): Promise<StoredBackup[]> {
  const backups = (await target.list()).flatMap((backup) => {
    const [, day, hour, minute, second] = NAME.exec(backup.name) ?? [];
    const writtenAt = new Date(`${day}T${hour}:${minute}:${second}Z`);
    return Number.isNaN(writtenAt.getTime()) ? [] : [{ ...backup, writtenAt }];
  });
  return backups.sort((a, b) => (a.name < b.name ? 1 : -1));
}

/** The backup that a process of its own creates. */
export interface BackupRequest extends DatabaseTargetConfig {
  /** A folder, or `s3://bucket/prefix`. */
  readonly place: string;
  readonly env: AwsEnvironment;
  readonly name: string;
  readonly recipients: readonly string[];
  readonly release: string;
}

/** The message of that process when it ends. */
export interface BackupReply {
  readonly failure?: Pick<Error, 'message' | 'name' | 'stack'>;
}

export interface BackupScheduleOptions extends Omit<BackupRequest, 'name'> {
  readonly database: Database;
  readonly hours: number;
  /** The number of backups to retain. */
  readonly keep: number;
  /** Cancels a backup under way, which another server may then create. */
  readonly signal?: AbortSignal;
  /** Reports a failed backup, which is repeated after a quarter of an hour, or a different failure that the message names. */
  readonly report: (error: unknown, message?: string) => void;
}

/** Lists the gauges of scheduled backups, whose values are the same at all servers of a database. */
export const listBackupGauges = ({ database, hours }: Pick<BackupScheduleOptions, 'database' | 'hours'>): Gauge[] => [
  {
    name: 'trellis_backup_last_timestamp_seconds',
    help: 'When the newest scheduled backup was made; 0 before the first one.',
    async read() {
      const row = await database.selectFrom('backup_schedule').select('last_at').executeTakeFirst();
      return (row?.last_at ?? 0) / 1000;
    },
  },
  {
    name: 'trellis_backup_interval_seconds',
    help: 'The time between two scheduled backups.',
    read: () => hours * 3_600,
  },
];

const LOOK_MS = 60_000;
const RETRY_MS = 15 * 60_000;

/** A server that fails loses its lease after this time. */
const LEASE_MS = 5 * 60_000;

/** Starts to look for due backups every minute. It does not keep the process alive. */
export function startBackupSchedule(options: BackupScheduleOptions): { close(): Promise<void> } {
  const closed = new AbortController();
  const signal = AbortSignal.any([closed.signal, ...(options.signal ? [options.signal] : [])]);
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await runDueBackup({ ...options, signal }).catch(options.report);
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();
  return {
    async close() {
      closed.abort();
      await ended;
    },
  };
}

/**
 * Creates a backup if one is due and no other server creates it, and deletes the oldest ones.
 *
 * @returns the name of the backup; `undefined` if none was due, or it was cancelled.
 */
export async function runDueBackup(options: BackupScheduleOptions): Promise<string | undefined> {
  const { database, report, signal, recipients, state, hours } = options;
  const holder = randomUUID();
  const intervalMs = hours * 3_600_000;
  const now = await claim(database, { holder, intervalMs });
  if (now === undefined) return undefined;
  const renewal = setInterval(() => void renew(database, holder).catch(report), LEASE_MS / 3).unref();
  const name = toBackupName(new Date(now), recipients.length > 0);
  try {
    await removeLeftovers(state, now);
    await runProcess({ ...options, name }, signal);
    await release(database, { holder, dueAt: now + intervalMs, name, at: now });
    await removeOld(options, name).catch((error: unknown) => report(error, 'failed to delete old backups'));
    return name;
  } catch (error) {
    // A cancelled backup is due at once, at another server or after a restart.
    const dueAt = signal?.aborted === true ? now : now + RETRY_MS;
    await release(database, { holder, dueAt }).catch(report);
    if (signal?.aborted === true) return undefined;
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/** @throws the first failure, after all others are deleted: a bucket with object lock refuses those that it still protects. */
async function removeOld({ place, state, env, keep }: BackupScheduleOptions, name: string): Promise<void> {
  const target = await openBackupTarget(place, { folder: state, env });
  // Backups with later names were created while the clock was wrong, and must not replace the ones of today.
  const backups = (await listBackups(target)).filter((backup) => backup.name <= name);
  const failures: unknown[] = [];
  for (const { name: old } of backups.slice(keep)) {
    await target.remove(old).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** A process that is told to stop deletes its files. One that does not, as a disk does not respond, is killed. */
const STOP_MS = 3_000;

/** Creates a backup in a process of its own. @throws Error with the message of its failure. */
async function runProcess(options: BackupRequest, signal = new AbortController().signal): Promise<void> {
  signal.throwIfAborted();
  // Tests run the sources, but the built program.
  const built = import.meta.url.replace(/^(.*)\/src\/(.*)\.ts$/u, '$1/dist/$2.js');
  const child = fork(fileURLToPath(new URL('./backup-process.js', built)), [], { execArgv: [] });
  let reply: BackupReply = { failure: { name: 'Error', message: 'The process of the backup has ended.' } };
  child.on('message', (message: BackupReply) => (reply = message));
  let kill: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  };
  signal.addEventListener('abort', stop);
  try {
    child.send(toRequest(options), () => undefined);
    await once(child, 'exit');
  } finally {
    clearTimeout(kill);
    signal.removeEventListener('abort', stop);
    await removeFolders(options.state, toWorkPrefix(child.pid ?? 0));
  }
  if (reply.failure) throw Object.assign(new Error(reply.failure.message), reply.failure);
}

/** Selects what a message can transfer. It is in no argument or variable, because it contains credentials. */
function toRequest(options: BackupRequest): BackupRequest {
  const { databaseUrl, postgresPool, state, place, env, name, recipients, release } = options;
  return { databaseUrl, postgresPool, state, place, env, name, recipients, release };
}

interface Claim {
  readonly holder: string;
  readonly intervalMs: number;
}

/** Acquires the lease of a due backup. @returns the time of the database; `undefined` without a lease. */
async function claim(database: Database, { holder, intervalMs }: Claim): Promise<number | undefined> {
  return inTransaction(database, async (transaction) => {
    const now = await readDatabaseTime(transaction);
    const row = await transaction.selectFrom('backup_schedule').selectAll().executeTakeFirst();
    // A time beyond the interval is that of a longer interval, which was set before.
    const isDue = row === undefined || row.due_at <= now || row.due_at > now + intervalMs;
    // A later end is that of a lease whose holder has ended before the clock was set back.
    const isLeased = row !== undefined && row.lease_until > now && row.lease_until <= now + LEASE_MS;
    if (!isDue || isLeased) return undefined;
    const lease = { lease_holder: holder, lease_until: now + LEASE_MS };
    if (row !== undefined) await transaction.updateTable('backup_schedule').set(lease).execute();
    else
      await transaction
        .insertInto('backup_schedule')
        .values({ id: 1, due_at: now, ...lease })
        .execute();
    return now;
  });
}

async function renew(database: Database, holder: string): Promise<void> {
  const until = (await readDatabaseTime(database)) + LEASE_MS;
  const lease = database.updateTable('backup_schedule').set({ lease_until: until });
  await lease.where('lease_holder', '=', holder).execute();
}

interface Release {
  readonly holder: string;
  readonly dueAt: number;
  readonly name?: string;
  readonly at?: number;
}

async function release(database: Database, { holder, dueAt, name, at }: Release): Promise<void> {
  await database
    .updateTable('backup_schedule')
    .set({ due_at: dueAt, lease_holder: null, lease_until: 0, ...(name && { last_name: name, last_at: at ?? null }) })
    .where('lease_holder', '=', holder)
    .execute();
}

const DAY_MS = 86_400_000;

/** Deletes temporary archives of backups that were interrupted more than a day ago. */
const removeLeftovers = (state: string, now: number): Promise<void> => removeFolders(state, 'backup-', now - DAY_MS);

async function removeFolders(state: string, prefix: string, before = Infinity): Promise<void> {
  for (const name of (await readdir(state)).filter((entry) => entry.startsWith(prefix))) {
    // A backup that ends deletes its own.
    const found = await stat(join(state, name)).catch(() => undefined);
    if (found && found.mtimeMs < before) await rm(join(state, name), { recursive: true, force: true });
  }
}
