import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { inSnapshot, inTransaction, openDatabase, openDatabaseAsIs } from '../database.js';
import type { Database } from '../database.js';
import { placeOf } from '../place.js';
import type { PlaceSettings } from '../place.js';
import { SERVER_KEY_FILE } from '../server-key.js';
import { ArchiveError } from './archive-error.js';
import { readContents, writeContents } from './archive.js';
import type { ArchivedFile, Contents } from './archive.js';
import { PRECIOUS_TABLES } from './precious-tables.js';
import type { TableName } from './precious-tables.js';
import { createTally, readRows, writeRows } from './rows.js';
import type { TableSummary } from './rows.js';

export interface BackupOptions extends PlaceSettings {
  readonly file: string;
  readonly release: string;
  /** Whether a file of that name is replaced. */
  readonly force: boolean;
  /** Is told how many rows are copied, of how many. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Writes everything precious to one file, for its owner's eyes only: accounts,
 * boards and secrets as they were at one moment, whatever the server does
 * meanwhile, and the key that reads what is sealed in them. The file is read
 * again before it gets its name.
 *
 * @throws ArchiveError when the file is there, or there is nothing to back up.
 */
export async function backUp(options: BackupOptions): Promise<Contents> {
  if (!options.force) await refuseExisting(options.file);
  const place = placeOf(options);
  if ('file' in place) await stat(place.file).catch(refuseMissing);
  const source = await openDatabaseAsIs(place);
  const unnamed = join(dirname(options.file), `.trellis-backup-${process.pid}`);
  try {
    // SQLite would make it readable for others.
    await (await open(unnamed, 'wx', 0o600)).close();
    const contents = await writeArchive(unnamed, source, options);
    await giveName(unnamed, options);
    return contents;
  } finally {
    await source.destroy();
    await rm(unnamed, { force: true });
  }
}

async function writeArchive(unnamed: string, source: Database, options: BackupOptions): Promise<Contents> {
  const archive = await openDatabase({ file: unnamed });
  try {
    const tables = await inSnapshot(source, (snapshot) =>
      inTransaction(archive, (target) => copyTables(snapshot, target, options.onProgress)),
    );
    const files = await readPreciousFiles(options.state);
    await writeContents(archive, { createdAt: new Date(), release: options.release, tables, files });
    const contents = await readContents(archive);
    // Otherwise it could be read only where a second file can be written beside it.
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
  for (const table of PRECIOUS_TABLES) {
    const tally = createTally();
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
  for (const table of PRECIOUS_TABLES) {
    const count = source.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('count'));
    total += (await count.executeTakeFirstOrThrow()).count;
  }
  return total;
}

/** What a server can't make again, and can't read its database without. */
async function readPreciousFiles(state: string): Promise<ArchivedFile[]> {
  const content = await readFile(join(state, SERVER_KEY_FILE)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  return content === undefined ? [] : [{ name: SERVER_KEY_FILE, content }];
}

async function giveName(unnamed: string, { file, force }: BackupOptions): Promise<void> {
  const handle = await open(unnamed, 'r+');
  await handle.sync();
  await handle.close();
  if (force) await rename(unnamed, file);
  // Unlike a rename, a link takes no name that is taken.
  else await link(unnamed, file).catch(refuseTaken);
}

async function refuseExisting(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) throw new ArchiveError(`expected a new file; ${file} is there, see --force`);
}

function refuseTaken(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  throw new ArchiveError('expected a new file; another one has taken the name meanwhile', { cause: error });
}

function refuseMissing(cause: unknown): never {
  throw new ArchiveError('expected the state folder of a server that was started before; see --state', { cause });
}
