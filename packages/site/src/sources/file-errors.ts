import { AppError } from '@trellis/core/errors';

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
