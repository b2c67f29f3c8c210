/** The modes of database files: only the user of the server may read and write them. */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

/** Read and write for the owner, nothing for others. */
const PRIVATE = 0o600;

/** The log of writes and its index lie beside a database that is open. SQLite gives them the mode of the database. */
const ENDINGS = ['', '-wal', '-shm'];

/** The bits of a mode for group and others. */
const OTHERS = 0o077;

/** Whether other users may read or write a file of this mode. Windows has no such modes. */
export const isOpenToOthers = (mode: number): boolean => process.platform !== 'win32' && (mode & OTHERS) !== 0;

/**
 * Makes a SQLite file private before it is opened, and creates it if it does not exist. Files of earlier releases had the
 * mode of the process's umask. One that belongs to another user stays as it is; `trellis doctor` warns of it.
 */
export function makeDatabasePrivate(file: string): void {
  if (file === ':memory:') return;
  create(file);
  for (const ending of ENDINGS) close(file + ending);
}

function create(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE));
  } catch {
    // It exists, or can't be created: SQLite then says why.
  }
}

function close(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !isOpenToOthers(found.mode)) return;
  try {
    chmodSync(file, PRIVATE);
  } catch {
    // It belongs to another user, or the file system is read-only.
  }
}
