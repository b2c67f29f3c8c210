import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FAULT_TEXTS, findStorageFault, isDamage, moveDamagedAside } from '@trellis/core/storage';
import { connectDatabase, type Database, inSnapshot, inTransaction, toDatabaseError } from '../database.js';
import { sql } from '../kysely.js';
import { MIGRATIONS, readSchemaVersion } from '../migrate.js';
import { assertNoServers } from '../notices.js';
import {
  assertUnusedDatabase,
  type DatabaseTargetConfig,
  openDatabase,
  openMigratedDatabase,
  toDatabaseTarget,
} from '../open-database.js';
import { findKeyText, SERVER_KEY_FILE } from '../server-key.js';
import { isSqliteError } from '../sqlite.js';
import { deleteInterruptedRestores, openStateFolder, RESTORE_PREFIX, syncFolder } from '../state-folder.js';
import {
  type ArchiveContents,
  type ArchivedFile,
  ArchiveError,
  BACKUP_TABLES,
  createRowDigest,
  newerReleaseError,
  readArchiveContents,
  readRows,
  type TableName,
  type TableSummary,
  throwIfAborted,
  toWorkPrefix,
  writeArchiveContents,
  writeRows,
} from './archive.js';
import { decryptBackup, encryptBackup, isEncrypted } from './encryption.js';
import type { BackupTarget } from './target.js';

/** One backup in a target. */
export interface BackupLocation {
  readonly target: BackupTarget;
  readonly name: string;
}

interface RestoreOptions extends DatabaseTargetConfig, BackupLocation {
  /** Whether to overwrite an existing file, or to replace existing data. */
  readonly force: boolean;
  /** The file of age identities that decrypt the backup. */
  readonly identityFile?: string;
  /** Reports the number of copied rows and the total. */
  readonly onProgress: (done: number, total: number) => void;
  /** Cancels the restore, which then leaves the database as it was. */
  readonly signal?: AbortSignal;
}

interface BackupOptions extends DatabaseTargetConfig, BackupLocation {
  readonly force: boolean;
  /** The public keys (`age1…`) to which the backup is encrypted; none for a backup in clear. */
  readonly recipients: readonly string[];
  readonly release: string;
  readonly onProgress: (done: number, total: number) => void;
  /** Cancels the backup, which then leaves no file. */
  readonly signal?: AbortSignal;
}

/**
 * Writes a backup with mode 0600. It contains the user data (accounts, boards and secrets) from one snapshot, even
 * while the server runs, and the server key. The archive is verified before it is stored under its name.
 *
 * @throws ArchiveError if the name exists, or there is no database.
 */
export async function createBackup(options: BackupOptions): Promise<ArchiveContents> {
  const { target, name, force, recipients, signal } = options;
  if (!force) await assertNotExisting(options);
  const place = toDatabaseTarget(options);
  if ('file' in place) await stat(place.file).catch(throwMissingDatabase);
  const source = await openMigratedDatabase(place, { hasDeadlines: false });
  try {
    // Only the state folder contains the server key in clear.
    return await inWorkFolder(join(options.state, toWorkPrefix(process.pid)), async (archive) => {
      const contents = await writeArchive(archive, source, options);
      const content = createReadStream(archive);
      const encrypted = recipients.length === 0 ? content : await encryptBackup(content, recipients);
      await target.write(name, encrypted, { overwrite: force, signal });
      return contents;
    });
  } catch (error) {
    throw toBackupError(error);
  } finally {
    await source.destroy();
  }
}

/** Calls `work` with the path of a temporary archive in a new folder, whose path begins with `prefix`. */
async function inWorkFolder<T>(prefix: string, work: (archive: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(prefix);
  try {
    return await work(join(folder, 'archive.db'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A damaged file is the source, which has been copied from; all other faults are those of the new file. */
function toBackupError(error: unknown): unknown {
  const fault = findStorageFault(error);
  if (error instanceof ArchiveError) return error;
  if (fault === undefined || fault === 'damaged') return toDatabaseError(error);
  return new ArchiveError(`The backup can't be written: ${FAULT_TEXTS[fault]}`, { cause: error });
}

async function writeArchive(temporary: string, source: Database, options: BackupOptions): Promise<ArchiveContents> {
  // SQLite would create the file readable for other users.
  await (await open(temporary, 'wx', 0o600)).close();
  const archive = await openDatabase({ file: temporary });
  try {
    const tables = await inSnapshot(source, (snapshot) =>
      inTransaction(archive, (target) => copyTables(snapshot, target, options)),
    );
    const { signal } = options;
    const key = await findKeyText(options.state, archive);
    const files = key === undefined ? [] : [{ name: SERVER_KEY_FILE, content: Buffer.from(key) }];
    await writeArchiveContents(archive, { createdAt: new Date(), release: options.release, tables, files });
    await throwIfAborted(signal);
    const contents = await readArchiveContents(archive, signal);
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
  { onProgress, signal }: BackupOptions,
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
      await throwIfAborted(signal);
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

async function assertNotExisting({ target, name }: BackupLocation): Promise<void> {
  if ((await target.find(name)) === undefined) return;
  throw new ArchiveError(`${name} already exists. Use --force to overwrite it`);
}

function throwMissingDatabase(cause: unknown): never {
  throw new ArchiveError('The state folder has no database; see --state', { cause });
}

/**
 * Restores a backup into the configured database, whichever engine it was created from. The whole file is verified
 * first; then the database is replaced in one transaction.
 *
 * @throws ArchiveError if the file is not a backup or is corrupt, or if the database contains data; StateFolderError
 * while a server uses the state folder; DatabaseError while servers use the database.
 */
export async function restoreBackup(options: RestoreOptions): Promise<ArchiveContents> {
  const folder = await openStateFolder(options.state);
  await deleteInterruptedRestores(options.state).catch((error: unknown) => {
    folder.close();
    throw error;
  });
  try {
    await assertUnusedDatabase(toDatabaseTarget(options));
    return await inWorkFolder(join(options.state, RESTORE_PREFIX), async (copy) => {
      await download(options, copy);
      const contents = await verify(copy, options.signal);
      await replace(copy, contents, options);
      return contents;
    });
  } catch (error) {
    throw findStorageFault(error) === undefined ? toDatabaseError(error) : error;
  } finally {
    folder.close();
  }
}

interface VerifyOptions extends BackupLocation {
  readonly identityFile?: string;
  /** An existing folder, in which a temporary copy is written. */
  readonly folder: string;
}

/** The result of {@link verifyBackup}. */
export interface VerifiedBackup extends ArchiveContents {
  readonly isEncrypted: boolean;
}

/**
 * Verifies a whole backup: its encryption, its structure and the digests of all data.
 *
 * @throws ArchiveError if it is not a backup, is corrupt, or can't be decrypted.
 */
export async function verifyBackup({ folder, ...location }: VerifyOptions): Promise<VerifiedBackup> {
  return inWorkFolder(join(folder, 'backup-'), async (copy) => ({
    isEncrypted: await download(location, copy),
    ...(await verify(copy)),
  }));
}

/** Copies a backup in clear to a file. @returns whether the backup was encrypted. */
async function download(
  { target, name, identityFile, signal }: BackupLocation & Pick<RestoreOptions, 'identityFile' | 'signal'>,
  copy: string,
): Promise<boolean> {
  const content = await target.read(name);
  const start = await peek(content).catch(throwUnreadable);
  const wasEncrypted = isEncrypted(start);
  if (wasEncrypted && identityFile === undefined) {
    content.destroy();
    throw new ArchiveError('The backup is encrypted. Use --identity with the file of an age identity');
  }
  const archive = wasEncrypted ? await decryptBackup(content, identityFile ?? '') : content;
  await pipeline(archive, createWriteStream(copy, { flags: 'wx', mode: 0o600 }), { signal }).catch(throwUnreadable);
  return wasEncrypted;
}

function throwUnreadable(cause: unknown): never {
  const { syscall } = cause as NodeJS.ErrnoException;
  const fault = syscall === 'write' ? findStorageFault(cause) : undefined;
  if (fault) throw new ArchiveError(`The copy of the backup can't be written: ${FAULT_TEXTS[fault]}`, { cause });
  throw new ArchiveError(`The backup can't be read completely: ${String(cause)}`, { cause });
}

/** Returns the first bytes of a stream, which remain in it. */
async function peek(content: Readable): Promise<Uint8Array> {
  for await (const chunk of content.iterator({ destroyOnReturn: false })) {
    content.unshift(chunk);
    return chunk as Buffer;
  }
  return new Uint8Array();
}

async function verify(copy: string, signal?: AbortSignal): Promise<ArchiveContents> {
  try {
    const archive = connectDatabase({ file: copy });
    try {
      return await readArchiveContents(archive, signal);
    } finally {
      await archive.destroy();
    }
  } catch (cause) {
    if (!isSqliteError(cause)) throw cause;
    throw new ArchiveError('The file is corrupt or not a backup', { cause });
  }
}

async function replace(copy: string, contents: ArchiveContents, options: RestoreOptions): Promise<void> {
  // Migrates the copy of a backup from an older release.
  const archive = await openDatabase({ file: copy });
  try {
    await assertNotNewer(archive, contents);
    const target = await openTarget(options);
    try {
      if (!options.force) await assertEmpty(target);
      await assertNoServers(target);
      await replaceFiles(options.state, contents.files, () =>
        target.transaction().execute((transaction) => restoreTables(archive, transaction, contents, options)),
      );
    } finally {
      await target.destroy();
    }
  } finally {
    await archive.destroy();
  }
}

/** Rejects tables and columns that this release does not know, and would leave out, although it works with such a database. */
async function assertNotNewer(archive: Database, { release }: ArchiveContents): Promise<void> {
  if ((await readSchemaVersion(archive)) > MIGRATIONS.length) throw newerReleaseError(release);
}

/** Opens the database to restore into. With `force`, a damaged SQLite file is moved aside and replaced by a new one. */
async function openTarget({ force, ...options }: RestoreOptions): Promise<Database> {
  const place = toDatabaseTarget(options);
  try {
    return await openDatabase(place, { hasDeadlines: false });
  } catch (error) {
    if (!force || !('file' in place) || !isDamage(error)) throw error;
    moveDamagedAside(place.file, Infinity);
    return openDatabase(place);
  }
}

async function assertEmpty(target: Database): Promise<void> {
  const person = await target.selectFrom('people').select('id').limit(1).executeTakeFirst();
  const object = await target.selectFrom('secret_objects').select('id').limit(1).executeTakeFirst();
  if (person === undefined && object === undefined) return;
  throw new ArchiveError('The database already contains data. Use --force to replace it');
}

async function restoreTables(
  archive: Database,
  target: Database,
  contents: ArchiveContents,
  { onProgress, signal }: RestoreOptions,
): Promise<void> {
  for (const table of [...BACKUP_TABLES].reverse()) await target.deleteFrom(table).execute();
  const total = [...contents.tables.values()].reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const table of BACKUP_TABLES) {
    for await (const rows of readRows(archive, table)) {
      await writeRows(target, table, rows);
      done += rows.length;
      onProgress(done, total);
      await throwIfAborted(signal);
    }
  }
}

/**
 * Replaces files of the state folder together with the database, which `replaceDatabase` replaces. The new files are on
 * the disk before it, and get their names afterwards, so that a failed or cancelled restore leaves the old ones. If the
 * process ends in between, the server reports a different key until the restore is repeated.
 */
async function replaceFiles(
  state: string,
  files: readonly ArchivedFile[],
  replaceDatabase: () => Promise<void>,
): Promise<void> {
  const unknown = files.find(({ name }) => name !== SERVER_KEY_FILE);
  if (unknown) throw new ArchiveError(`The backup contains an unknown file "${unknown.name}"`);
  const paths = files.map(({ name }) => join(state, name));
  try {
    for (const file of files) await stageFile(state, file);
    await syncFolder(state);
    await replaceDatabase();
  } catch (error) {
    for (const path of paths) await rm(`${path}.new`, { force: true });
    throw error;
  }
  for (const path of paths) await replaceFile(path);
  await syncFolder(state);
}

async function stageFile(state: string, { name, content }: ArchivedFile): Promise<void> {
  const handle = await open(`${join(state, name)}.new`, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a new file its name. A copy of the previous file remains as `<name>.before-restore`, unless they are the same. */
async function replaceFile(path: string): Promise<void> {
  const previous = await readFile(path).catch(() => undefined);
  if (previous?.equals(await readFile(`${path}.new`)) === false) await copyFile(path, `${path}.before-restore`);
  await rename(`${path}.new`, path);
}
