import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import {
  FAULT_TEXTS,
  findStorageFault,
  isAccessibleToOthers,
  makeDatabasePrivate,
  moveDamagedAside,
} from '@trellis/core/storage';

export interface StateFolder {
  /** Whether other users of the machine may access the folder. */
  readonly isShared: boolean;
  /** Releases the lock. */
  readonly close: () => void;
}

/** A failure to use the state folder that an operator can fix. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError';
}

/**
 * Creates and locks the folder of keys and databases, which only the user of the server can access. An existing folder
 * keeps its mode, because it may contain other files.
 *
 * @throws StateFolderError if another server uses the folder.
 */
export async function openStateFolder(folder: string): Promise<StateFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  const file = join(folder, 'lock.db');
  makeDatabasePrivate(file);
  const close = await lock(file);
  return { isShared: isAccessibleToOthers(mode), close };
}

/**
 * Locks the folder, because two servers would overwrite each other's site records. SQLite uses a lock of the operating
 * system, which is released when the process ends for any reason.
 */
async function lock(file: string): Promise<() => void> {
  try {
    return tryLock(file);
  } catch (cause) {
    const fault = findStorageFault(cause);
    if (fault === 'busy') throw new StateFolderError('the state folder is in use by another server', { cause });
    if (fault !== 'damaged') throw toFolderError(cause) as Error;
    // Only a file that no process has locked can be found damaged.
    moveDamagedAside(file);
    return tryLock(file);
  }
}

function tryLock(file: string): () => void {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    throw error;
  }
  return () => database.close();
}

/** Converts faults of the disk to a {@link StateFolderError}. Returns other errors unchanged. */
function toFolderError(error: unknown): unknown {
  const fault = findStorageFault(error);
  if (fault === undefined) return error;
  const text = fault === 'closed' ? FAULT_TEXTS['read-only'] : FAULT_TEXTS[fault];
  return new StateFolderError(`the folder can't be used: ${text}`, { cause: error });
}

/** Returns whether a server uses the folder. Does not create the folder. */
export async function isStateFolderInUse(folder: string): Promise<boolean> {
  const file = join(folder, 'lock.db');
  if ((await stat(file).catch(() => undefined)) === undefined) return false;
  try {
    tryLock(file)();
    return false;
  } catch (error) {
    return findStorageFault(error) === 'busy';
  }
}

/** The prefix of the folders in which restores work, inside of the state folder. */
export const RESTORE_PREFIX = 'restore-';

/** The names that mkdtemp() creates. */
const RESTORE_FOLDER = new RegExp(`^${RESTORE_PREFIX}[A-Za-z0-9]{6}$`);

/** Lists the leftovers of interrupted restores in a state folder: copies of all data and of the key. */
export async function listInterruptedRestores(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => RESTORE_FOLDER.test(name));
}

/** Deletes the leftovers that {@link listInterruptedRestores} finds, and returns the names. The caller has locked the folder. */
export async function deleteInterruptedRestores(folder: string): Promise<string[]> {
  const names = await listInterruptedRestores(folder);
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  return names;
}

/** Makes new names in a folder durable. Some file systems can't open folders. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
