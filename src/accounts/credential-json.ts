/** Reads what a browser's passkey answered, which nobody has checked yet. */
import { AppError } from '../errors.js';

/** The one refusal of a ceremony: why is nobody's business who did not do it themselves. */
export function refuseCeremony(cause?: unknown): AppError {
  const message = "Expected a passkey's answer to a challenge of the last 5 minutes. Begin again.";
  return new AppError('invalid_input', message, { cause });
}

/**
 * Reads which challenge an answer is for. It proves nothing: the signature over
 * it is checked later.
 *
 * @throws AppError the refusal of a ceremony, when the answer is not even shaped like one.
 */
export function readChallenge(credential: unknown): string {
  const { clientDataJSON } = fieldsOf(fieldsOf(credential).response);
  if (typeof clientDataJSON !== 'string') throw refuseCeremony();
  const { challenge, crossOrigin } = parseObject(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  // No page of ours is ever inside another's.
  if (typeof challenge !== 'string' || crossOrigin === true) throw refuseCeremony();
  return challenge;
}

/** @throws AppError the refusal of a ceremony, when there is none. */
export function readCredentialId(credential: unknown): string {
  const { id } = fieldsOf(credential);
  if (typeof id !== 'string') throw refuseCeremony();
  return id;
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (cause) {
    throw refuseCeremony(cause);
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw refuseCeremony();
}
