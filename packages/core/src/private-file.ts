/** File modes that let only the user of the server read and write databases. */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

/** Read and write for the owner, nothing for others. */
const PRIVATE = 0o600;

/**
 * The suffixes of a database, its write-ahead log and the index of that. SQLite gives all files the mode of the first.
 */
const SUFFIXES = ['', '-wal', '-shm'];

/** The bits of a mode for group and others. */
const OTHERS = 0o077;

/** Returns whether other users may read or write a file of this mode. Windows has no such modes. */
export const isAccessibleToOthers = (mode: number): boolean => process.platform !== 'win32' && (mode & OTHERS) !== 0;

/**
 * Makes a SQLite file private before it is opened, and creates it if it does not exist. Files of earlier releases had
 * the mode of the process's umask. The mode of a file that belongs to another user can't be changed; `trellis doctor`
 * warns about it.
 */
export function makeDatabasePrivate(file: string): void {
  if (file === ':memory:') return;
  create(file);
  for (const suffix of SUFFIXES) restrict(file + suffix);
}

function create(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE));
  } catch {
    // The file exists, or it can't be created, which SQLite reports when it opens the file.
  }
}

function restrict(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !isAccessibleToOthers(found.mode)) return;
  try {
    chmodSync(file, PRIVATE);
  } catch {
    // The file belongs to another user, or the file system is read-only.
  }
}
