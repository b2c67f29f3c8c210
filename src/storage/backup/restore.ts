import { copyFile, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase, openDatabase } from '../database.js';
import type { Database } from '../database.js';
import { placeOf } from '../place.js';
import type { PlaceSettings } from '../place.js';
import { SERVER_KEY_FILE } from '../server-key.js';
import { isSqliteError } from '../sqlite.js';
import { openStateFolder } from '../state-folder.js';
import { ArchiveError } from './archive-error.js';
import { readContents } from './archive.js';
import type { ArchivedFile, Contents } from './archive.js';
import { PRECIOUS_TABLES } from './precious-tables.js';
import { readRows, writeRows } from './rows.js';

export interface RestoreOptions extends PlaceSettings {
  readonly file: string;
  /** Whether data that is there is replaced. */
  readonly force: boolean;
  /** Is told how many rows are copied, of how many. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Puts a backup where the settings say that the precious data is, whichever
 * engine it was made from. The whole file is compared with what was said when it
 * was made before anything is touched; then all of the database changes, or
 * nothing.
 *
 * @throws ArchiveError for a file that is no backup or damaged, and for data
 * that is there; StateFolderError while a server uses the state folder.
 */
export async function restore(options: RestoreOptions): Promise<Contents> {
  const folder = await openStateFolder(options.state);
  const desk = await mkdtemp(join(options.state, 'restore-'));
  try {
    const copy = join(desk, 'archive.db');
    await copyFile(options.file, copy).catch((cause: unknown) => {
      throw new ArchiveError(`expected a file that can be read; ${String(cause)}`, { cause });
    });
    const contents = await verify(copy);
    await replace(copy, contents, options);
    return contents;
  } finally {
    await rm(desk, { recursive: true, force: true });
    folder.close();
  }
}

async function verify(copy: string): Promise<Contents> {
  try {
    const archive = connectDatabase({ file: copy });
    return await readContents(archive).finally(() => archive.destroy());
  } catch (cause) {
    if (!isSqliteError(cause)) throw cause;
    throw new ArchiveError('expected a backup as it was made; it is damaged, or none', { cause });
  }
}

async function replace(copy: string, contents: Contents, options: RestoreOptions): Promise<void> {
  // One of an older release becomes one of ours.
  const archive = await openDatabase({ file: copy });
  try {
    const target = await openDatabase(placeOf(options));
    try {
      if (!options.force) await refuseData(target);
      // Should it end in between, the server says that the key is another, until this is run again.
      for (const file of contents.files) await writePrecious(options.state, file);
      await target.transaction().execute((transaction) => copyTables(archive, transaction, contents, options));
    } finally {
      await target.destroy();
    }
  } finally {
    await archive.destroy();
  }
}

async function refuseData(target: Database): Promise<void> {
  const person = await target.selectFrom('people').select('id').limit(1).executeTakeFirst();
  const object = await target.selectFrom('secret_objects').select('id').limit(1).executeTakeFirst();
  if (person === undefined && object === undefined) return;
  throw new ArchiveError('expected a database without data; --force replaces what is there');
}

async function copyTables(
  archive: Database,
  target: Database,
  contents: Contents,
  { onProgress }: RestoreOptions,
): Promise<void> {
  for (const table of [...PRECIOUS_TABLES].reverse()) await target.deleteFrom(table).execute();
  const total = [...contents.tables.values()].reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const table of PRECIOUS_TABLES) {
    for await (const rows of readRows(archive, table)) {
      await writeRows(target, table, rows);
      done += rows.length;
      onProgress(done, total);
    }
  }
}

/** All of it is there under its name, or what was there before; which stays beside it. */
async function writePrecious(state: string, { name, content }: ArchivedFile): Promise<void> {
  if (name !== SERVER_KEY_FILE) throw new ArchiveError(`expected a backup of known files; it holds "${name}"`);
  const file = join(state, name);
  const handle = await open(`${file}.new`, 'w', 0o600);
  await handle.chmod(0o600);
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await rename(file, `${file}.before-restore`).catch(() => undefined);
  await rename(`${file}.new`, file);
}
