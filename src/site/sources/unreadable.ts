import { AppError } from '../../errors.js';

/** An entry of a source that is skipped. */
export interface EntryProblem {
  /** Below the source. Bytes of a name that are not valid UTF-8 are escaped: `caf\xe9.md`. */
  readonly path: string;
  /** One clause, without the path. */
  readonly reason: string;
  /** Whether only the name is wrong: no call can open such an entry, so it is found by listing its folder. */
  readonly isName: boolean;
}

/** It was there when its folder was listed and is there no longer, a link took its place, or a folder on the way is gone. */
export function isGone(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}

/** `EACCES`, or the text of an error that has no code. */
export function errorCode(error: unknown): string {
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

/** Describes an error code of the system: `can't be read: EACCES, permission denied`. */
export function describeCode(code: string): string {
  const meaning = MEANINGS[code];
  return `can't be read: ${code}${meaning === undefined ? '' : `, ${meaning}`}`;
}

export const unreadable = (path: string, code: string): EntryProblem => ({
  path,
  reason: describeCode(code),
  isName: false,
});

/** A source that can't be listed at all; without its path, as callers of the API may see the message. */
export function unreadableSource(name: string, code: string): AppError {
  return new AppError('unprocessable', `The folder of the source "${name}" ${describeCode(code)}.`);
}

/** @param name The bytes that the file system keeps. */
export function notUtf8(folder: string, name: Buffer): EntryProblem {
  const shown = name.toString('latin1').replace(/[^\x20-\x7e]/g, toEscape);
  const path = folder === '' ? shown : `${folder}/${shown}`;
  return { path, reason: 'its name is not valid UTF-8; rename it', isName: true };
}

function toEscape(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
