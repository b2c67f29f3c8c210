/** Parses the credentials that browsers send, before they are verified. */
import { AppError } from '../core/errors.js';

/** Creates the only error of all ceremonies. The reason is not revealed, as it would help an attacker. */
export function ceremonyError(cause?: unknown): AppError {
  const message = 'Passkey verification failed or took longer than 5 minutes. Start again.';
  return new AppError('invalid_input', message, { cause });
}

/**
 * Reads the challenge from a credential. The signature is not verified here.
 *
 * @throws AppError as {@link ceremonyError} creates it, for a malformed credential.
 */
export function readChallenge(credential: unknown): string {
  const { clientDataJSON } = toFields(toFields(credential).response);
  if (typeof clientDataJSON !== 'string') throw ceremonyError();
  const { challenge, crossOrigin } = parseObject(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  // No page of Trellis is ever embedded in a page of a different origin.
  if (typeof challenge !== 'string' || crossOrigin === true) throw ceremonyError();
  return challenge;
}

/** @throws AppError as {@link ceremonyError} creates it, when the id is missing. */
export function readCredentialId(credential: unknown): string {
  const { id } = toFields(credential);
  if (typeof id !== 'string') throw ceremonyError();
  return id;
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch (cause) {
    throw ceremonyError(cause);
  }
}

function toFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw ceremonyError();
}
