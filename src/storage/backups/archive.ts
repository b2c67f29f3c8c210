/**
 * The format of a backup: a SQLite database with copies of the tables, for both engines, and additional tables that
 * describe the content. Backups from older releases are migrated like any database.
 */
import { createHash, type Hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { type Database, isPostgres } from '../database.js';
import { sql } from '../kysely.js';
import type { Tables } from '../tables.js';

/** Incremented when older releases can't read newer archives. */
const FORMAT = 1;

interface ArchiveInfo {
  readonly createdAt: Date;
  /** The release that created the backup. */
  readonly release: string;
}

/** A file of the state folder. */
export interface ArchivedFile {
  readonly name: string;
  readonly content: Uint8Array;
}

interface ArchiveTables {
  archive: { format: number; created_at: number; release: string };
  archive_tables: { name: string; rows: number; digest: string };
  archive_files: { name: string; content: Uint8Array; digest: string };
}

export interface ArchiveContents extends ArchiveInfo {
  readonly tables: ReadonlyMap<TableName, TableSummary>;
  readonly files: readonly ArchivedFile[];
}

/** Writes the description of an archive, and its files. */
export async function writeArchiveContents(archive: Database, contents: ArchiveContents): Promise<void> {
  const own = archive as unknown as Kysely<ArchiveTables>;
  const { schema } = own;
  const createTable = (name: string) => schema.createTable(name).addColumn('name', 'text', (name) => name.primaryKey());
  await schema
    .createTable('archive')
    .addColumn('format', 'integer')
    .addColumn('created_at', 'bigint')
    .addColumn('release', 'text')
    .execute();
  await createTable('archive_tables').addColumn('rows', 'bigint').addColumn('digest', 'text').execute();
  await createTable('archive_files').addColumn('content', 'blob').addColumn('digest', 'text').execute();
  const { createdAt, release, tables, files } = contents;
  await own.insertInto('archive').values({ format: FORMAT, created_at: createdAt.getTime(), release }).execute();
  for (const [name, summary] of tables)
    await own
      .insertInto('archive_tables')
      .values({ name, ...summary })
      .execute();
  for (const file of files) {
    await own
      .insertInto('archive_files')
      .values({ ...file, digest: digestOf(file.content) })
      .execute();
  }
}

/**
 * Reads the description of an archive, and verifies the digests of all its data.
 *
 * @throws ArchiveError if the file is not a backup, or is corrupt.
 */
export async function readArchiveContents(archive: Database, signal?: AbortSignal): Promise<ArchiveContents> {
  const own = archive as unknown as Kysely<ArchiveTables>;
  const { createdAt, release } = await readInfo(own);
  await requireIntegrity(own);
  const tables = new Map<TableName, TableSummary>();
  // The names are those of tables, but a newer backup may contain other tables.
  for (const { name, ...expected } of await own.selectFrom('archive_tables').selectAll().execute()) {
    const summary = await digestTable(archive, name as TableName, signal);
    if (summary.rows !== expected.rows || summary.digest !== expected.digest) throw corrupt(`table ${name}`);
    tables.set(name as TableName, summary);
  }
  const files = await own.selectFrom('archive_files').selectAll().execute();
  for (const { name, content, digest } of files) if (digestOf(content) !== digest) throw corrupt(name);
  return { createdAt, release, tables, files: files.map(({ name, content }) => ({ name, content })) };
}

async function readInfo(own: Kysely<ArchiveTables>): Promise<ArchiveInfo> {
  const info = await own
    .selectFrom('archive')
    .selectAll()
    .executeTakeFirst()
    .catch((cause: unknown) => {
      throw new ArchiveError('The file is not a backup created by "trellis backup"', { cause });
    });
  if (info === undefined) throw corrupt('description');
  if (info.format > FORMAT) throw newerReleaseError(info.release);
  return { createdAt: new Date(info.created_at), release: info.release };
}

export const newerReleaseError = (release: string): ArchiveError =>
  new ArchiveError(`The backup was created by the newer release ${release}`);

async function requireIntegrity(own: Kysely<ArchiveTables>): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(own);
  if (rows[0]?.integrity_check !== 'ok') throw corrupt(rows[0]?.integrity_check ?? 'structure');
}

async function digestTable(archive: Database, table: TableName, signal?: AbortSignal): Promise<TableSummary> {
  const tally = createRowDigest();
  for await (const rows of readRows(archive, table)) {
    tally.add(rows);
    await throwIfAborted(signal);
  }
  return tally.sum();
}

/** Lets signals be noticed, as statements of SQLite block. @throws the reason of an aborted signal. */
export async function throwIfAborted(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  signal?.throwIfAborted();
}

function corrupt(part: string): ArchiveError {
  return new ArchiveError(`The backup is corrupt: ${part}`);
}

const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Returns the beginning of the names of the temporary folders that a process creates for backups in the state folder. */
export const toWorkPrefix = (pid: number): string => `backup-${pid}-`;

/** A failure to create, read or restore a backup that an operator can fix. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Small enough for one statement: the engines allow about 32,000 values, and a row has at most 20. */
const MAX_BATCH = 500;
const FIRST_BATCH = 8;

/** A batch is in memory several times, and rows such as boards have megabytes. */
const BATCH_CHARACTERS = 4 * 2 ** 20;

/** Returns a function that chooses the size of the next batch by the largest row of the table so far. */
function createBatchSize(): (batch: readonly TableRow[]) => number {
  let largest = 1;
  return (batch) => {
    for (const row of batch) largest = Math.max(largest, countCharacters(row));
    return Math.max(1, Math.min(MAX_BATCH, 2 * batch.length, Math.floor(BATCH_CHARACTERS / largest)));
  };
}

const countCharacters = (row: TableRow): number =>
  Object.values(row).reduce(
    (sum: number, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 1),
    0,
  );

type TableRow = Readonly<Record<string, number | string | Uint8Array | null>>;

/** The size and digest of a copied table. */
export interface TableSummary {
  readonly rows: number;
  /** The SHA-256 of the rows, in the order of the copy. */
  readonly digest: string;
}

/** Reads a table in batches, in a transaction that reads from a snapshot. */
export function readRows(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  return isPostgres(transaction) ? readByCursor(transaction, table) : readByNumber(transaction, table);
}

/** Reads a PostgreSQL table. Its rows have no order, and the numbers of pending entries need not be unique as on SQLite. */
async function* readByCursor(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  const isNumbered = table === 'audit_pending';
  const order = sql.raw(isNumbered ? 'order by number' : '');
  await sql`declare rows no scroll cursor for select * from ${sql.table(table)} ${order}`.execute(transaction);
  const toBatchSize = createBatchSize();
  for (let [number, size] = [0, FIRST_BATCH]; ;) {
    const { rows } = await sql<TableRow>`fetch ${sql.lit(size)} from rows`.execute(transaction);
    if (rows.length === 0) break;
    size = toBatchSize(rows);
    yield isNumbered ? rows.map((row) => ({ ...row, number: (number += 1) })) : rows;
  }
  await sql`close rows`.execute(transaction);
}

/** Reads a SQLite table in the order of its row ids. */
async function* readByNumber(transaction: Database, table: TableName): AsyncGenerator<readonly TableRow[]> {
  const toBatchSize = createBatchSize();
  for (let [last, size] = [-1, FIRST_BATCH]; ;) {
    const { rows } = await sql<TableRow & { readonly row_number: number }>`
      select rowid as row_number, * from ${sql.table(table)} where rowid > ${last} order by rowid limit ${sql.lit(size)}
    `.execute(transaction);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.row_number;
    size = toBatchSize(rows);
    yield rows.map(withoutNumber);
  }
}

const withoutNumber = (row: TableRow): TableRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'row_number'));

/** Inserts rows into a table with the same columns. */
export async function writeRows(transaction: Database, table: TableName, rows: readonly TableRow[]): Promise<void> {
  const anyTable = transaction as unknown as Kysely<Record<string, TableRow>>;
  await anyTable.insertInto(table).values(rows).execute();
}

/** Creates an accumulator that counts and digests rows. */
export function createRowDigest(): { add(rows: readonly TableRow[]): void; sum(): TableSummary } {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(rows) {
      count += rows.length;
      for (const row of rows) addRow(hash, row);
    },
    sum: () => ({ rows: count, digest: hash.copy().digest('hex') }),
  };
}

/** Adds a row to a digest, with sorted columns, because the order of columns depends on the engine. */
function addRow(hash: Hash, row: TableRow): void {
  const fields = Object.keys(row)
    .sort()
    .map((name) => [name, toJson(row[name] ?? null)]);
  hash.update(JSON.stringify(fields));
}

const toJson = (value: number | string | Uint8Array | null) =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;

/**
 * Whether a table belongs in a backup. Tables are listed after those that they refer to, which is the order of a
 * restore. Short-lived data, such as counts of requests, is left out.
 */
const IS_PRECIOUS: Readonly<Record<keyof Tables, boolean>> = {
  people: true,
  invitations: true,
  sessions: true,
  tokens: true,
  passkeys: true,
  workload_rules: true,
  // A token that was used stays used.
  workload_used_tokens: true,
  challenges: true,
  // Valid for 10 minutes.
  device_logins: false,
  account_events: true,
  boards: true,
  board_shares: true,
  board_readers: true,
  snoozes: true,
  views: true,
  feeds: true,
  settings: true,
  retired_webhooks: true,
  request_log: true,
  forge_readings: true,
  forge_states: true,
  forge_credentials: true,
  repository_marks: true,
  pull_request_marks: true,
  action_attempts: true,
  throughput_days: true,
  pull_request_histories: true,
  history_readings: true,
  secret_objects: true,
  secret_object_consumers: true,
  secret_object_tags: true,
  secret_object_values: true,
  secret_object_recipients: true,
  secret_consumers: true,
  secret_retired_keys: true,
  secret_owner: true,
  audit_log: true,
  audit_head: true,
  audit_pending: true,
  audit_checkpoints: true,
  audit_archives: true,
  replays: true,
  server_key: true,
  notification_channels: true,
  notification_preferences: true,
  notification_events: true,
  push_keys: true,
  // A restore must not repeat messages that were sent after the backup.
  notification_deliveries: false,
  rate_counts: false,
  webhook_deliveries: false,
  backup_schedule: false,
  // A server recreates the schedule from the user settings at startup; leases are short-lived.
  refresh_schedule: false,
};

export type TableName = keyof Tables;

export const BACKUP_TABLES = (Object.keys(IS_PRECIOUS) as TableName[]).filter((table) => IS_PRECIOUS[table]);
