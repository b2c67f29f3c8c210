import { AppError } from '../core/errors.js';
import { AgeHeaderError, readAgeHeader } from './age-header.js';

export interface SealedValue {
  /** The bytes of the age file, which the server can't decrypt. */
  readonly sealed: Uint8Array;
  readonly recipientCount: number;
}

/** 1 MiB, far more than any key or certificate needs. */
const MAX_BYTES = 1024 ** 2;

/** The length of the base64 text of {@link MAX_BYTES}. */
const MAX_CHARACTERS = Math.ceil(MAX_BYTES / 3) * 4;

/**
 * Decodes a sealed value from base64 with padding, and reads its age header.
 *
 * @throws AppError `too_large` above 1 MiB; `unprocessable` unless the text is canonical base64 of an age file with at
 * least one recipient.
 */
export function parseSealedValue(text: string): SealedValue {
  if (text.length > MAX_CHARACTERS) throw tooLarge();
  const sealed = Buffer.from(text, 'base64');
  if (sealed.toString('base64') !== text) throw unprocessable('Expected value to be base64 with padding.');
  if (sealed.length > MAX_BYTES) throw tooLarge();
  try {
    return { sealed, ...readAgeHeader(sealed) };
  } catch (cause) {
    if (cause instanceof AgeHeaderError) throw unprocessable(cause.message);
    throw cause;
  }
}

function tooLarge(): AppError {
  return new AppError('too_large', `Expected value to be at most ${MAX_BYTES} bytes.`, {
    field: 'value',
  });
}

function unprocessable(message: string): AppError {
  return new AppError('unprocessable', message, { field: 'value' });
}
