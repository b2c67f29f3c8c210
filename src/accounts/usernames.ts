import { AppError } from '../core/errors.js';

/** Lengths in characters, as in the contract. Names are shown in tables and are part of URLs. */
const MAX_USERNAME = 64;
const MAX_DISPLAY_NAME = 100;
const MAX_LABEL = 100;

/** Control and format characters, which can make different names look the same, and unpaired surrogates. */
const INVISIBLE = /\p{C}/u;

/**
 * Parses the username of a new account: normalises it to NFC and trims it.
 *
 * @throws AppError `invalid_input` when it is blank, longer than 64 characters, or contains invisible characters.
 */
export function parseUsername(text: string): string {
  return parseName(text, 'username', MAX_USERNAME);
}

/** Parses a display name of at most 100 characters. @throws AppError `invalid_input` as {@link parseUsername} does. */
export function parseDisplayName(text: string): string {
  return parseName(text, 'displayName', MAX_DISPLAY_NAME);
}

/** Parses the name of a passkey or token. @throws AppError `invalid_input` as {@link parseDisplayName} does. */
export function parseLabel(text: string): string {
  return parseName(text, 'label', MAX_LABEL);
}

function parseName(text: string, field: string, maxLength: number): string {
  const name = text.normalize('NFC').trim();
  if (name !== '' && Array.from(name).length <= maxLength && !INVISIBLE.test(name)) return name;
  throw new AppError('invalid_input', `Expected ${field} to be 1 to ${maxLength} visible characters.`, { field });
}
