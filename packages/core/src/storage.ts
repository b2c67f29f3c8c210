/** Stored files: faults of disks and databases, which operators fix and requests survive; damaged, private and shared files. */
import { chmodSync, closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from './errors.js';

/**
 * The fault: the disk is full, can't be written, or reports errors; a database is locked by another process, can't
 * be opened, or is damaged.
 */
export type StorageFault = 'busy' | 'closed' | 'damaged' | 'failing' | 'full' | 'read-only';

/** The primary result codes of SQLite. */
const SQLITE_FAULTS: Readonly<Record<number, StorageFault>> = {
  3: 'read-only',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'failing',
  11: 'damaged',
  13: 'full',
  14: 'closed',
  26: 'damaged',
};

/** The messages of SQLite, because the driver leaves out the code of some errors. */
const SQLITE_MESSAGES: Readonly<Record<string, StorageFault>> = {
  'attempt to write a readonly database': 'read-only',
  'database disk image is malformed': 'damaged',
  'database is locked': 'busy',
  'database or disk is full': 'full',
  'database table is locked': 'busy',
  'disk I/O error': 'failing',
  'file is not a database': 'damaged',
  'unable to open database file': 'closed',
};

/** The error codes of the operating system. A limit of the size of files has the same effect as a full disk. */
const SYSTEM_FAULTS: Readonly<Record<string, StorageFault>> = {
  EACCES: 'read-only',
  EDQUOT: 'full',
  EFBIG: 'full',
  EIO: 'failing',
  ENOSPC: 'full',
  EROFS: 'read-only',
};

/** The lower byte of an extended result code is the primary one. */
const PRIMARY = 0xff;

/** Causes are followed this far, in case they form a circle. */
const MAX_CAUSES = 5;

/** Finds the fault of the disk or of a SQLite database that an error, or one of its causes, reports. */
export function findStorageFault(error: unknown): StorageFault | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth += 1) {
    const { errcode, code, message, cause } = current as Partial<
      Record<'cause' | 'code' | 'errcode' | 'message', unknown>
    >;
    const fault =
      typeof errcode === 'number'
        ? SQLITE_FAULTS[errcode & PRIMARY]
        : (SYSTEM_FAULTS[String(code)] ?? SQLITE_MESSAGES[String(message)]);
    if (fault !== undefined) return fault;
    current = cause;
  }
  return undefined;
}

/** Returns whether an error means that the content of a SQLite file is damaged, or is not a database. */
export const isDamage = (error: unknown): boolean => findStorageFault(error) === 'damaged';

/** The faults in words, for operators. */
export const FAULT_TEXTS: Readonly<Record<StorageFault, string>> = {
  busy: 'another process has locked the database',
  closed: 'the database file is missing, or its folder is read-only or not accessible to this user',
  damaged: 'the database is damaged',
  failing: 'the disk reports input/output errors',
  full: 'the disk is full',
  'read-only': 'the disk is read-only, or this user may not write to it',
};

/** Long enough that retries cause little load; a lock is released much sooner. */
const RETRY_AFTER_SECONDS: Readonly<Partial<Record<StorageFault, number>>> = { busy: 1 };
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** Converts a fault to the error that callers see: `unavailable`, with its reason and `Retry-After`. */
export function toUnavailable(fault: StorageFault, cause?: unknown): AppError {
  const seconds = RETRY_AFTER_SECONDS[fault] ?? DEFAULT_RETRY_AFTER_SECONDS;
  return new AppError('unavailable', `The server can't use its storage: ${FAULT_TEXTS[fault]}.`, {
    cause,
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Converts a fault of the disk or of a SQLite database with {@link toUnavailable}. Returns other errors unchanged. */
export function convertStorageFault(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const fault = findStorageFault(error);
  return fault === undefined ? error : toUnavailable(fault, error);
}

/** Damaged files of derived data that remain for a diagnosis. Each may be as large as the file that replaces it. */
const MAX_KEPT = 2;

const MARK = '.damaged-';

/**
 * Moves a damaged SQLite file and its log aside, so that a new one can be created: `site.db` becomes
 * `site.db.damaged-2026-11-21T09-30-00.000Z`.
 *
 * @param kept The number of such files that remain, the newest ones.
 * @returns the new path; `undefined` if the file does not exist.
 */
export function moveDamagedAside(file: string, kept = MAX_KEPT): string | undefined {
  if (!exists(file)) return undefined;
  const target = `${file}${MARK}${new Date().toISOString().replaceAll(':', '-')}`;
  renameSync(file, target);
  if (exists(`${file}-wal`)) renameSync(`${file}-wal`, `${target}-wal`);
  rmSync(`${file}-shm`, { force: true });
  const all = listDamaged(dirname(file)).filter((name) => name.startsWith(basename(file) + MARK));
  for (const name of all.slice(0, Math.max(0, all.length - kept))) {
    for (const suffix of ['', '-wal']) rmSync(join(dirname(file), name + suffix), { force: true });
  }
  return target;
}

/** Lists the damaged files of a folder that were moved aside, without their logs, from the oldest. */
export const listDamaged = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.includes(MARK) && !name.endsWith('-wal'))
    .sort();

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;

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

/** A store of derived files that several servers share, such as a bucket. Its failures never fail a request. */
export interface SharedFiles {
  /**
   * Writes a stored file to `target`, without the folders above it. Returns its size, or `undefined` if the store does
   * not have the file or does not respond.
   */
  fetch(key: string, target: string): Promise<number | undefined>;
  /** Stores a complete file in the background. Its content never changes. */
  offer(key: string, file: string): void;
}
