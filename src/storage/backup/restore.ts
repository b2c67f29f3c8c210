import { copyFile, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase, openDatabase } from '../database.js';
import type { Database } from '../database.js';
import { toDatabaseTarget } from '../database-target.js';
import type { DatabaseTargetConfig } from '../database-target.js';
import { SERVER_KEY_FILE } from '../server-key.js';
import { isSqliteError } from '../sqlite.js';
import { openStateFolder } from '../state-folder.js';
import { ArchiveError } from './archive-error.js';
import { readArchiveContents } from './archive.js';
import type { ArchivedFile, ArchiveContents } from './archive.js';
import { BACKUP_TABLES } from './backup-tables.js';
import { readRows, writeRows } from './rows.js';

export interface RestoreOptions extends DatabaseTargetConfig {
  readonly file: string;
  /** Whether to replace existing data. */
  readonly force: boolean;
  /** Reports the number of copied rows and the total. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Restores a backup into the configured database, whichever engine it was created from. The whole file is verified
 * first; then the database is replaced in one transaction.
 *
 * @throws ArchiveError if the file is not a backup or is corrupt, or if the database contains data; StateFolderError
 * while a server uses the state folder.
 */
export async function restoreBackup(options: RestoreOptions): Promise<ArchiveContents> {
  const folder = await openStateFolder(options.state);
  const workFolder = await mkdtemp(join(options.state, 'restore-'));
  try {
    const copy = join(workFolder, 'archive.db');
    await copyFile(options.file, copy).catch((cause: unknown) => {
      throw new ArchiveError(`The backup can't be read: ${String(cause)}`, { cause });
    });
    const contents = await verify(copy);
    await replace(copy, contents, options);
    return contents;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
    folder.close();
  }
}

async function verify(copy: string): Promise<ArchiveContents> {
  try {
    const archive = connectDatabase({ file: copy });
    return await readArchiveContents(archive).finally(() => archive.destroy());
  } catch (cause) {
    if (!isSqliteError(cause)) throw cause;
    throw new ArchiveError('The file is corrupt or not a backup', { cause });
  }
}

async function replace(copy: string, contents: ArchiveContents, options: RestoreOptions): Promise<void> {
  // Migrates the copy of a backup from an older release.
  const archive = await openDatabase({ file: copy });
  try {
    const target = await openDatabase(toDatabaseTarget(options));
    try {
      if (!options.force) await assertEmpty(target);
      // If the process ends between the two steps, the server reports a different key until the restore is repeated.
      for (const file of contents.files) await writeFileAtomically(options.state, file);
      await target.transaction().execute((transaction) => copyTables(archive, transaction, contents, options));
    } finally {
      await target.destroy();
    }
  } finally {
    await archive.destroy();
  }
}

async function assertEmpty(target: Database): Promise<void> {
  const person = await target.selectFrom('people').select('id').limit(1).executeTakeFirst();
  const object = await target.selectFrom('secret_objects').select('id').limit(1).executeTakeFirst();
  if (person === undefined && object === undefined) return;
  throw new ArchiveError('The database already contains data. Use --force to replace it');
}

async function copyTables(
  archive: Database,
  target: Database,
  contents: ArchiveContents,
  { onProgress }: RestoreOptions,
): Promise<void> {
  for (const table of [...BACKUP_TABLES].reverse()) await target.deleteFrom(table).execute();
  const total = [...contents.tables.values()].reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const table of BACKUP_TABLES) {
    for await (const rows of readRows(archive, table)) {
      await writeRows(target, table, rows);
      done += rows.length;
      onProgress(done, total);
    }
  }
}

/** Replaces a file of the state folder atomically. The previous file is renamed to `<name>.before-restore`. */
async function writeFileAtomically(state: string, { name, content }: ArchivedFile): Promise<void> {
  if (name !== SERVER_KEY_FILE) throw new ArchiveError(`The backup contains an unknown file "${name}"`);
  const file = join(state, name);
  const handle = await open(`${file}.new`, 'w', 0o600);
  await handle.chmod(0o600);
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await rename(file, `${file}.before-restore`).catch(() => undefined);
  await rename(`${file}.new`, file);
}
