import { AppError } from '../../errors.js';

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
  EPERM: 'operation not permitted',
};

/** The index is complete or refused: a site that silently lacks files is worse than one that says what to mend. */
export function unreadable(path: string, code: string): AppError {
  const meaning = MEANINGS[code];
  return refusal(`${showPath(path)} is not: ${code}${meaning === undefined ? '' : `, ${meaning}`}`);
}

/** @param name The bytes that the file system keeps. */
export function notUtf8(folder: string, name: Buffer): AppError {
  const shown = name.toString('latin1').replace(/[^\x20-\x7e]/g, toEscape);
  return refusal(`the name '${shown}' in ${showPath(folder)} is not valid UTF-8; rename it`);
}

function refusal(reason: string): AppError {
  return new AppError('unprocessable', `Expected all of the site to be readable; ${reason}.`);
}

function toEscape(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Quoted, with line breaks escaped, so that a message stays one line. */
function showPath(path: string): string {
  return path === '' ? "the site's own folder" : JSON.stringify(path);
}
