import type { Stats } from 'node:fs';
import { AppError } from '@trellis/core/errors';

/** The stored stat numbers of an entry, in this order. They take 112 bytes instead of the 500 of a `Stats`. */
export const STAT_FIELDS = [
  'dev',
  'mode',
  'nlink',
  'uid',
  'gid',
  'rdev',
  'blksize',
  'ino',
  'size',
  'blocks',
  'atimeMs',
  'mtimeMs',
  'ctimeMs',
  'birthtimeMs',
] as const;

export type StatField = (typeof STAT_FIELDS)[number];
export type StatNumbers = Readonly<Record<StatField, number>>;

/** The number of stat numbers per entry. */
export const STATS_PER_ENTRY = STAT_FIELDS.length;

const FORMAT_BITS = 0o170000;
const FILE_FORMAT = 0o100000;
const FOLDER_FORMAT = 0o040000;

export function isFolder({ mode }: Pick<StatNumbers, 'mode'>): boolean {
  return (mode & FORMAT_BITS) === FOLDER_FORMAT;
}

/** Whether two fingerprints of a file are equal, which suggests that its bytes did not change. */
export function isUnchangedFile(now: FileFingerprint, then: FileFingerprint): boolean {
  return now.size === then.size && now.mtimeMs === then.mtimeMs && now.ctimeMs === then.ctimeMs && now.ino === then.ino;
}

/** The stat numbers of a file of which every write changes at least one. */
export type FileFingerprint = Pick<StatNumbers, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>;

/**
 * The worst granularity of file times, which is that of FAT. A file that changed within this time before it was read
 * may have changed again with the same time, so it is read again next time.
 */
export const TIMESTAMP_GRANULARITY_MS = 2000;

/** Writes the stat numbers of an entry into an array at `at`, in the order of {@link STAT_FIELDS}. */
export function writeStats(numbers: Float64Array, at: number, stats: StatNumbers): void {
  // Unrolled, because a loop over the names takes ten times as long, and this runs for every file.
  numbers[at] = stats.dev;
  numbers[at + 1] = stats.mode;
  numbers[at + 2] = stats.nlink;
  numbers[at + 3] = stats.uid;
  numbers[at + 4] = stats.gid;
  numbers[at + 5] = stats.rdev;
  numbers[at + 6] = stats.blksize;
  numbers[at + 7] = stats.ino;
  numbers[at + 8] = stats.size;
  numbers[at + 9] = stats.blocks;
  numbers[at + 10] = stats.atimeMs;
  numbers[at + 11] = stats.mtimeMs;
  numbers[at + 12] = stats.ctimeMs;
  numbers[at + 13] = stats.birthtimeMs;
}

/** Reads the fingerprint of the first entry from an array that {@link writeStats} filled. */
export function readFingerprint(numbers: Float64Array): FileFingerprint {
  const [, , , , , , , ino = NaN, size = NaN, , , mtimeMs = NaN, ctimeMs = NaN] = numbers;
  return { size, mtimeMs, ctimeMs, ino };
}

/** The entries of a walk: paths from the root, with `/`, and their stat numbers, without an object per entry. */
export class WalkEntries {
  readonly paths: string[] = [];
  #numbers = new Float64Array(1024 * STATS_PER_ENTRY);

  get length(): number {
    return this.paths.length;
  }

  /** Returns the index of the new entry. */
  add(path: string, stats: Stats): number {
    const index = this.paths.push(path) - 1;
    if (index * STATS_PER_ENTRY === this.#numbers.length) this.#grow();
    this.update(index, stats);
    return index;
  }

  /** Adds a regular file whose stat numbers are set when it is read. Until then, all except its mode are NaN. */
  addUnread(path: string): void {
    const index = this.paths.push(path) - 1;
    const at = index * STATS_PER_ENTRY;
    if (at === this.#numbers.length) this.#grow();
    this.#numbers.fill(NaN, at, at + STATS_PER_ENTRY);
    this.#numbers[at + 1] = FILE_FORMAT;
  }

  isUnread(index: number): boolean {
    return Number.isNaN(this.size(index));
  }

  /** Copies the stat numbers of an entry from an array, starting at `from`, in the order of {@link STAT_FIELDS}. */
  set(index: number, numbers: Float64Array, from: number): void {
    // Loops here and below, because creating a view of an array costs more than copying fourteen numbers.
    for (let place = 0; place < STATS_PER_ENTRY; place += 1)
      this.#numbers[index * STATS_PER_ENTRY + place] = numbers[from + place] ?? NaN;
  }

  update(index: number, stats: StatNumbers): void {
    writeStats(this.#numbers, index * STATS_PER_ENTRY, stats);
  }

  /** Returns the fingerprints of a range of entries: size, mtimeMs, ctimeMs and ino of each. */
  witnesses(from: number, to = from + 1): Float64Array {
    const numbers = new Float64Array((to - from) * 4);
    for (let index = from; index < to; index += 1) this.writeWitness(index, numbers, (index - from) * 4);
    return numbers;
  }

  /** Writes the fingerprint of an entry into an array at `at`. */
  writeWitness(index: number, numbers: Float64Array, at: number): void {
    const start = index * STATS_PER_ENTRY;
    numbers[at] = this.#numbers[start + 8] ?? 0;
    numbers[at + 1] = this.#numbers[start + 11] ?? 0;
    numbers[at + 2] = this.#numbers[start + 12] ?? 0;
    numbers[at + 3] = this.#numbers[start + 7] ?? 0;
  }

  /** Returns when the bytes, the name or the permissions last changed, by the clock of the file system. */
  changedMs(index: number): number {
    return this.#numbers[index * STATS_PER_ENTRY + 12] ?? 0;
  }

  mode(index: number): number {
    return this.#numbers[index * STATS_PER_ENTRY + 1] ?? 0;
  }

  size(index: number): number {
    return this.#numbers[index * STATS_PER_ENTRY + 8] ?? 0;
  }

  path(index: number): string {
    return this.paths[index] ?? '';
  }

  /** Appends the stat numbers of an entry to a list, in the order of {@link STAT_FIELDS}. */
  pushNumbers(index: number, list: unknown[]): void {
    const from = index * STATS_PER_ENTRY;
    for (let place = from; place < from + STATS_PER_ENTRY; place += 1) list.push(this.#numbers[place]);
  }

  stats(index: number): StatNumbers {
    const at = index * STATS_PER_ENTRY;
    const read = (offset: number): number => this.#numbers[at + offset] ?? 0;
    return {
      dev: read(0),
      mode: read(1),
      nlink: read(2),
      uid: read(3),
      gid: read(4),
      rdev: read(5),
      blksize: read(6),
      ino: read(7),
      size: read(8),
      blocks: read(9),
      atimeMs: read(10),
      mtimeMs: read(11),
      ctimeMs: read(12),
      birthtimeMs: read(13),
    };
  }

  #grow(): void {
    const numbers = new Float64Array(this.#numbers.length * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}

/** An entry of a source that is skipped. */
export interface EntryProblem {
  /** The path below the source. Bytes of a name that are not valid UTF-8 are escaped: `caf\xe9.md`. */
  readonly path: string;
  /** A clause without the path. */
  readonly reason: string;
  /** Whether the name is the problem. Such an entry can't be opened and is found only by listing its folder. */
  readonly isName: boolean;
}

/**
 * Whether an error means that an entry, or a folder above it, was deleted or replaced by a link since it was listed.
 */
export function isMissingFileError(error: unknown): boolean {
  const code = getErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}

/** Returns the code of an error, such as `EACCES`, or its text if it has no code. */
export function getErrorCode(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : String(error);
}

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EIO: 'the disk reported an error',
  EMFILE: 'too many open files in this process',
  ENAMETOOLONG: 'its path is longer than the system allows',
  ENFILE: 'too many open files on this machine',
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a folder',
  EPERM: 'operation not permitted',
};

/** Describes a system error code, for example `can't be read: EACCES, permission denied`. */
export function describeErrorCode(code: string): string {
  const meaning = MEANINGS[code];
  return `can't be read: ${code}${meaning === undefined ? '' : `, ${meaning}`}`;
}

export const unreadableEntry = (path: string, code: string): EntryProblem => ({
  path,
  reason: describeErrorCode(code),
  isName: false,
});

/** Creates the error for a source that can't be listed. It omits the path, as API callers may see the message. */
export function unreadableSourceError(name: string, code: string): AppError {
  return new AppError('unprocessable', `The folder of the source "${name}" ${describeErrorCode(code)}.`);
}

/** @param name The bytes of the name in the file system. */
export function nonUtf8NameProblem(folder: string, name: Buffer): EntryProblem {
  const shown = name.toString('latin1').replace(/[^\x20-\x7e]/g, toEscape);
  const path = folder === '' ? shown : `${folder}/${shown}`;
  return { path, reason: 'its name is not valid UTF-8; rename it', isName: true };
}

function toEscape(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** The number of attempts and the wait between them, five seconds in total. */
const ATTEMPTS = 100;
const WAIT_MS = 50;

/**
 * Runs a synchronous file system call, and retries it while the process or the machine has too many open files.
 */
export function retryOnEmfile<T>(read: () => T): T {
  for (let count = 1; ; count += 1) {
    try {
      return read();
    } catch (error) {
      const code = getErrorCode(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || count === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
