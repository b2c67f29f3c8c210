import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findStorageFault } from '@trellis/core/storage';
import type { AwsEnvironment } from '../objects/s3-location.js';
import { syncFolder } from '../state-folder.js';
import { ArchiveError } from './archive.js';
import type { BackupLocation } from './backup.js';

/** A place that stores backups by name. */
export interface BackupTarget {
  /**
   * Stores a backup, completely or not at all.
   *
   * @throws ArchiveError if the name exists, unless `overwrite` is true.
   */
  write(name: string, content: Readable, options: WriteOptions): Promise<void>;
  /** @throws ArchiveError if the backup can't be read. */
  read(name: string): Promise<Readable>;
  /** Returns `undefined` for a name that does not exist. */
  find(name: string): Promise<StoredBackup | undefined>;
  list(): Promise<readonly StoredBackup[]>;
  remove(name: string): Promise<void>;
}

interface WriteOptions {
  readonly overwrite: boolean;
  readonly signal?: AbortSignal;
}

export interface StoredBackup {
  readonly name: string;
  readonly bytes: number;
  readonly writtenAt: Date;
}

export interface BackupTargetOptions {
  /** The folder of temporary files, usually the state folder. */
  readonly folder: string;
  /** The variables with the credentials of a bucket. */
  readonly env: AwsEnvironment;
}

const isBucket = (place: string): boolean => place.startsWith('s3://');

/** @throws ArchiveError for the address of an unknown store, which would otherwise name a folder. */
function checkScheme(place: string): void {
  if (isBucket(place) || !/^[a-z][a-z\d+.-]*:\/\//i.test(place)) return;
  throw new ArchiveError(`Expected a path, or an address such as s3://bucket/prefix; received ${place}`);
}

/** Returns the target that a place names, such as `TRELLIS_BACKUP`: the path of a folder, or `s3://bucket/prefix`. */
export async function openBackupTarget(place: string, options: BackupTargetOptions): Promise<BackupTarget> {
  checkScheme(place);
  if (!isBucket(place)) return createFolderTarget(resolve(place));
  // Loaded late, because most backups are files.
  const { createBucketTarget } = await import('../objects/bucket-target.js');
  return createBucketTarget(place, options);
}

/** Returns the target and the name of one backup, such as the argument of `trellis backup`. */
export async function locateBackup(place: string, options: BackupTargetOptions): Promise<BackupLocation> {
  checkScheme(place);
  if (!isBucket(place)) return { target: createFolderTarget(dirname(resolve(place))), name: basename(place) };
  const [, folder = place, name = '', query = ''] = /^(s3:\/\/[^/?]+(?:\/[^?]*)?)\/([^/?]+)(\?.*)?$/.exec(place) ?? [];
  if (name === '') throw new ArchiveError('Expected the address of a backup, such as s3://bucket/name');
  return { target: await openBackupTarget(`${folder}${query}`, options), name: decodeName(name) };
}

/** Decodes the last part of an address. One that was not encoded may have a percent sign. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Adds the name of a backup to a place. */
export function joinBackupName(place: string, name: string): string {
  if (!isBucket(place)) return join(place, name);
  const [, address = place, query = ''] = /^([^?]*?)\/*(\?.*)?$/.exec(place) ?? [];
  return `${address}/${name}${query}`;
}

/** Returns the absolute path of a file, or an address without its query. */
export const showBackupPlace = (place: string): string =>
  isBucket(place) ? place.replace(/\?.*$/, '') : resolve(place);

function createFolderTarget(folder: string): BackupTarget {
  const find = async (name: string): Promise<StoredBackup | undefined> => {
    const found = await stat(join(folder, name)).catch(() => undefined);
    return found && { name, bytes: found.size, writtenAt: found.mtime };
  };
  return {
    find,
    async write(name, content, { overwrite, signal }) {
      const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await deleteAbandoned(folder);
        const file = createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true });
        await pipeline(content, file, { signal });
        await moveToFile(temporary, join(folder, name), overwrite);
        await syncFolder(folder);
      } catch (error) {
        throw findStorageFault(error) ? error : toArchiveError('written', join(folder, name), error);
      } finally {
        // The first error matters more, and the file is deleted after a day.
        await rm(temporary, { force: true }).catch(() => undefined);
      }
    },
    async read(name) {
      const file = join(folder, name);
      const handle = await open(file).catch((error: unknown) => {
        throw toArchiveError('read', file, error);
      });
      return createReadStream(file, { fd: handle });
    },
    async list() {
      const names = await readdir(folder).catch((error: unknown) => {
        throw toArchiveError('listed', folder, error);
      });
      const found = await Promise.all(names.map(find));
      return found.filter((backup) => backup !== undefined);
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

/** Names the path of an error of the file system. Returns other errors unchanged. */
function toArchiveError(verb: 'listed' | 'read' | 'written', path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new ArchiveError(`The ${verb === 'listed' ? 'backups' : 'backup'} can't be ${verb}: ${path}: ${code}`, {
    cause: error,
  });
}

const TEMPORARY = '.trellis-backup-';
const DAY_MS = 86_400_000;

/** Deletes the incomplete files of processes that were killed more than a day ago. */
async function deleteAbandoned(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((entry) => entry.startsWith(TEMPORARY))) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - DAY_MS) await rm(join(folder, name), { force: true });
  }
}

async function moveToFile(temporary: string, file: string, overwrite: boolean): Promise<void> {
  if (overwrite) await rename(temporary, file);
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

function throwIfExisting(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  throw new ArchiveError('The file already exists: another process has just created it', { cause: error });
}
