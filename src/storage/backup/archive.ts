/**
 * The format of a backup: a SQLite database with copies of the tables, for both engines, and additional tables that
 * describe the content. Backups from older releases are migrated like any database.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Database } from '../database.js';
import { ArchiveError } from './archive-error.js';
import { createRowDigest, readRows } from './rows.js';
import type { TableSummary } from './rows.js';
import type { TableName } from './backup-tables.js';

/** Incremented when older releases can't read newer archives. */
const FORMAT = 1;

export interface ArchiveInfo {
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
export async function readArchiveContents(archive: Database): Promise<ArchiveContents> {
  const own = archive as unknown as Kysely<ArchiveTables>;
  const { createdAt, release } = await readInfo(own);
  await requireIntegrity(own);
  const tables = new Map<TableName, TableSummary>();
  // The names are those of tables, but a newer backup may contain other tables.
  for (const { name, ...expected } of await own.selectFrom('archive_tables').selectAll().execute()) {
    const summary = await digestTable(archive, name as TableName);
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
  if (info.format > FORMAT) {
    throw new ArchiveError(`The backup was created by the newer release ${info.release}`);
  }
  return { createdAt: new Date(info.created_at), release: info.release };
}

async function requireIntegrity(own: Kysely<ArchiveTables>): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(own);
  if (rows[0]?.integrity_check !== 'ok') throw corrupt(rows[0]?.integrity_check ?? 'structure');
}

async function digestTable(archive: Database, table: TableName): Promise<TableSummary> {
  const tally = createRowDigest();
  for await (const rows of readRows(archive, table)) tally.add(rows);
  return tally.sum();
}

function corrupt(part: string): ArchiveError {
  return new ArchiveError(`The backup is corrupt: ${part}`);
}

const digestOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
