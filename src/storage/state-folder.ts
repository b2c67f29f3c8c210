import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { isAccessibleToOthers, makeDatabasePrivate } from '@trellis/core/private-file';

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
  const close = lock(file);
  return { isShared: isAccessibleToOthers(mode), close };
}

/**
 * Locks the folder, because two servers would overwrite each other's site records. SQLite uses a lock of the operating
 * system, which is released when the process ends for any reason.
 */
function lock(file: string): () => void {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (cause) {
    database.close();
    throw new StateFolderError('the state folder is in use by another server', { cause });
  }
  return () => database.close();
}

/** Returns whether a server uses the folder. Does not create the folder. */
export async function isStateFolderInUse(folder: string): Promise<boolean> {
  const file = join(folder, 'lock.db');
  if ((await stat(file).catch(() => undefined)) === undefined) return false;
  try {
    lock(file)();
    return false;
  } catch {
    return true;
  }
}
