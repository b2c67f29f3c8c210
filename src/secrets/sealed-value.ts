import { AppError } from '../errors.js';
import { AgeHeaderError, readAgeHeader } from './age-header.js';

export interface SealedValue {
  /** The bytes as they came, which nobody here can open. */
  readonly sealed: Uint8Array;
  readonly recipientCount: number;
}

/** 1 MiB: far beyond any key or certificate; what is larger is a file, and belongs elsewhere. */
const MAX_BYTES = 1024 ** 2;

/** A base64 text of more characters stands for more than {@link MAX_BYTES}. */
const MAX_CHARACTERS = Math.ceil(MAX_BYTES / 3) * 4;

/**
 * Reads a sealed value from base64 with padding.
 *
 * @throws AppError `too_large` beyond 1 MiB, `unprocessable` when it is not base64
 * in its one spelling, or no age file that has a recipient.
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
  return new AppError('too_large', `Expected a value of at most ${MAX_BYTES} bytes; received more.`, {
    field: 'value',
  });
}

function unprocessable(message: string): AppError {
  return new AppError('unprocessable', message, { field: 'value' });
}
