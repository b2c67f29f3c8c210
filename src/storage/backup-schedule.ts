/** Scheduled backups: one server at a time creates them, by a lease in the database, and deletes old ones. */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackupTarget, StoredBackup } from './backup-target.js';
import { createBackup } from './backup.js';
import { readDatabaseTime } from './database-clock.js';
import { type Database, inTransaction } from './database.js';
import type { DatabaseTargetConfig } from './open-database.js';

const NAME = /^trellis-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.backup(\.age)?$/;

/** Returns the name of a scheduled backup, by which the names sort in the order of time. */
export const toBackupName = (at: Date, isEncrypted: boolean): string =>
  `trellis-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup${isEncrypted ? '.age' : ''}`;

/** Lists the backups with the names of {@link toBackupName}, the latest first. */
export async function listBackups(target: BackupTarget): Promise<StoredBackup[]> {
  const backups = (await target.list()).filter(({ name }) => NAME.test(name));
  return backups.sort((a, b) => (a.name < b.name ? 1 : -1));
}

export interface BackupScheduleOptions extends DatabaseTargetConfig {
  readonly database: Database;
  readonly target: BackupTarget;
  readonly recipients: readonly string[];
  readonly hours: number;
  /** The number of backups to retain. */
  readonly keep: number;
  readonly release: string;
  /** Reports a failed backup, which is repeated after a quarter of an hour. */
  readonly report: (error: unknown) => void;
}

const LOOK_MS = 60_000;
const RETRY_MS = 15 * 60_000;

/** A server that fails loses its lease after this time. */
const LEASE_MS = 5 * 60_000;

/** Starts to look for due backups every minute. It does not keep the process alive. */
export function startBackupSchedule(options: BackupScheduleOptions): { close(): Promise<void> } {
  const closed = new AbortController();
  const run = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      await runDueBackup(options).catch(options.report);
      await sleep(LOOK_MS, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
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
 * @returns the name of the backup; `undefined` if none was due.
 */
export async function runDueBackup(options: BackupScheduleOptions): Promise<string | undefined> {
  const holder = randomUUID();
  const now = await claim(options.database, holder);
  if (now === undefined) return undefined;
  const renewal = setInterval(() => void renew(options.database, holder).catch(options.report), LEASE_MS / 3).unref();
  const name = toBackupName(new Date(now), options.recipients.length > 0);
  try {
    await removeLeftovers(options.state, now);
    await createBackup({ ...options, name, force: false, onProgress: () => undefined });
    await release(options.database, { holder, dueAt: now + options.hours * 3_600_000, name, at: now });
    for (const { name: old } of (await listBackups(options.target)).slice(options.keep))
      await options.target.remove(old);
    return name;
  } catch (error) {
    await release(options.database, { holder, dueAt: now + RETRY_MS }).catch(options.report);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/** Acquires the lease of a due backup. @returns the time of the database; `undefined` without a lease. */
async function claim(database: Database, holder: string): Promise<number | undefined> {
  return inTransaction(database, async (transaction) => {
    const now = await readDatabaseTime(transaction);
    const row = await transaction.selectFrom('backup_schedule').selectAll().executeTakeFirst();
    if (row !== undefined && (row.due_at > now || row.lease_until > now)) return undefined;
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
async function removeLeftovers(state: string, now: number): Promise<void> {
  for (const name of (await readdir(state)).filter((entry) => entry.startsWith('backup-'))) {
    const { mtimeMs } = await stat(join(state, name));
    if (mtimeMs < now - DAY_MS) await rm(join(state, name), { recursive: true, force: true });
  }
}
