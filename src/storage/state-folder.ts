import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { isOpenToOthers, makeDatabasePrivate } from './private-file.js';

export interface StateFolder {
  /** Whether other people of the machine may look into it. */
  readonly isShared: boolean;
  /** Lets another server have it. */
  readonly close: () => void;
}

/** The folder can't be used, for a reason that a person can mend. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError';
}

/**
 * Makes the folder of keys and databases, in which nobody else has any
 * business. One that was there keeps its mode, for it may hold more than ours.
 *
 * @throws StateFolderError when another server has it.
 */
export async function openStateFolder(folder: string): Promise<StateFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  const file = join(folder, 'lock.db');
  makeDatabasePrivate(file);
  const close = lock(file);
  return { isShared: isOpenToOthers(mode), close };
}

/**
 * Two servers would write the site's records under each other's queries. SQLite
 * takes the operating system's lock, which ends with the process, however that
 * ends.
 */
function lock(file: string): () => void {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (cause) {
    database.close();
    throw new StateFolderError('expected a folder of its own; another server is using it', { cause });
  }
  return () => database.close();
}

/** Whether a server has the folder. Nothing is made where there is none. */
export async function isStateFolderTaken(folder: string): Promise<boolean> {
  const file = join(folder, 'lock.db');
  if ((await stat(file).catch(() => undefined)) === undefined) return false;
  try {
    lock(file)();
    return false;
  } catch {
    return true;
  }
}
