import { constants } from 'node:fs';
import { copyFile, link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { inSnapshot, inTransaction, openDatabase, openMigratedDatabase } from '../database.js';
import type { Database } from '../database.js';
import { toDatabaseTarget } from '../database-target.js';
import type { DatabaseTargetConfig } from '../database-target.js';
import { SERVER_KEY_FILE } from '../server-key.js';
import { ArchiveError } from './archive-error.js';
import { readArchiveContents, writeArchiveContents } from './archive.js';
import type { ArchivedFile, ArchiveContents } from './archive.js';
import { BACKUP_TABLES } from './backup-tables.js';
import type { TableName } from './backup-tables.js';
import { createRowDigest, readRows, writeRows } from './rows.js';
import type { TableSummary } from './rows.js';

export interface BackupOptions extends DatabaseTargetConfig {
  readonly file: string;
  readonly release: string;
  /** Whether to overwrite an existing file. */
  readonly force: boolean;
  /** Reports the number of copied rows and the total. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Writes a backup file with mode 0600. It contains the user data (accounts, boards and secrets) from one snapshot, even
 * while the server runs, and the server key. The file is verified before it gets its name.
 *
 * @throws ArchiveError if the file exists, or there is no database.
 */
export async function createBackup(options: BackupOptions): Promise<ArchiveContents> {
  if (!options.force) await assertNotExisting(options.file);
  const place = toDatabaseTarget(options);
  if ('file' in place) await stat(place.file).catch(throwMissingDatabase);
  const source = await openMigratedDatabase(place);
  const temporary = join(dirname(options.file), `.trellis-backup-${process.pid}`);
  try {
    // SQLite would create the file readable for other users.
    await (await open(temporary, 'wx', 0o600)).close();
    const contents = await writeArchive(temporary, source, options);
    await moveToFile(temporary, options);
    return contents;
  } finally {
    await source.destroy();
    await rm(temporary, { force: true });
  }
}

async function writeArchive(temporary: string, source: Database, options: BackupOptions): Promise<ArchiveContents> {
  const archive = await openDatabase({ file: temporary });
  try {
    const tables = await inSnapshot(source, (snapshot) =>
      inTransaction(archive, (target) => copyTables(snapshot, target, options.onProgress)),
    );
    const files = await readPreciousFiles(options.state);
    await writeArchiveContents(archive, { createdAt: new Date(), release: options.release, tables, files });
    const contents = await readArchiveContents(archive);
    // In WAL mode, reading the file would require write access to its folder.
    await sql`pragma journal_mode = delete`.execute(archive);
    return contents;
  } finally {
    await archive.destroy();
  }
}

async function copyTables(
  source: Database,
  target: Database,
  onProgress: BackupOptions['onProgress'],
): Promise<Map<TableName, TableSummary>> {
  const total = await countRows(source);
  const summaries = new Map<TableName, TableSummary>();
  let done = 0;
  for (const table of BACKUP_TABLES) {
    const tally = createRowDigest();
    for await (const rows of readRows(source, table)) {
      await writeRows(target, table, rows);
      tally.add(rows);
      done += rows.length;
      onProgress(done, total);
    }
    summaries.set(table, tally.sum());
  }
  return summaries;
}

async function countRows(source: Database): Promise<number> {
  let total = 0;
  for (const table of BACKUP_TABLES) {
    const count = source.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'));
    total += (await count.executeTakeFirstOrThrow()).count;
  }
  return total;
}

/** Reads the files that are needed to decrypt the database. */
async function readPreciousFiles(state: string): Promise<ArchivedFile[]> {
  const content = await readFile(join(state, SERVER_KEY_FILE)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  return content === undefined ? [] : [{ name: SERVER_KEY_FILE, content }];
}

async function moveToFile(temporary: string, { file, force }: BackupOptions): Promise<void> {
  const handle = await open(temporary, 'r+');
  await handle.sync();
  await handle.close();
  if (force) await rename(temporary, file);
  // Unlike rename(), link() fails if the name exists.
  else
    await link(temporary, file)
      .catch((error: unknown) => copyWithoutLinks(error, temporary, file))
      .catch(throwIfExisting);
}

/** Copies the file if the file system has no hard links, such as exFAT and some network shares. */
async function copyWithoutLinks(error: unknown, temporary: string, file: string): Promise<void> {
  if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  await copyFile(temporary, file, constants.COPYFILE_EXCL);
  const copy = await open(file, 'r+');
  await copy.sync();
  await copy.close();
}

async function assertNotExisting(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) throw new ArchiveError(`${file} already exists. Use --force to overwrite it`);
}

function throwIfExisting(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  throw new ArchiveError('The file already exists: another process has just created it', { cause: error });
}

function throwMissingDatabase(cause: unknown): never {
  throw new ArchiveError('The state folder has no database; see --state', { cause });
}
