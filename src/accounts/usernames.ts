import { AppError } from '../errors.js';

/** In characters; names are shown in tables, and are part of addresses. */
const MAX_USERNAME = 64;
const MAX_DISPLAY_NAME = 100;
const MAX_LABEL = 100;

/** Control and format characters, which make two names look alike, and unpaired surrogates. */
const INVISIBLE = /\p{C}/u;

/**
 * Reads the name that a new account is to have: in Unicode's composed form,
 * without space around it.
 *
 * @throws AppError `invalid_input` when it is blank, longer than 64 characters, or not all of it can be seen.
 */
export function parseUsername(text: string): string {
  return parseName(text, 'username', MAX_USERNAME);
}

/** @throws AppError `invalid_input` as {@link parseUsername} does, for more than 100 characters. */
export function parseDisplayName(text: string): string {
  return parseName(text, 'displayName', MAX_DISPLAY_NAME);
}

/** Reads the name of a passkey. @throws AppError `invalid_input` as {@link parseDisplayName} does. */
export function parseLabel(text: string): string {
  return parseName(text, 'label', MAX_LABEL);
}

function parseName(text: string, field: string, maxLength: number): string {
  const name = text.normalize('NFC').trim();
  if (name !== '' && name.length <= maxLength && !INVISIBLE.test(name)) return name;
  throw new AppError('invalid_input', `Expected ${field} to be 1 to ${maxLength} visible characters.`, { field });
}
