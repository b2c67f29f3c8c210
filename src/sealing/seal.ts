import { Encrypter } from 'age-encryption';
import { SealingError } from './sealing-error.js';

/**
 * The service's limit for sealed values: 1 MiB. Each recipient takes about 100 bytes, and each 64 KiB of the value 16.
 */
export const MAX_SEALED_BYTES = 2 ** 20;

/** The largest number of consumers of a secret, and the owner. */
const MAX_RECIPIENTS = 101;

/** A passphrase that opens a value. It is the only protection against guessing, so it should be long. */
export interface Passphrase {
  readonly passphrase: string;
}

/**
 * Encrypts a value to its recipients and returns a binary age file, which the `age` program reads too.
 *
 * @param value Bytes, or text that is encoded as UTF-8.
 * @param recipients Public keys (`age1…`), where duplicates count once, or a passphrase.
 * @throws SealingError `invalid_key` for an invalid recipient, `too_large` above {@link MAX_SEALED_BYTES}.
 */
export async function seal(
  value: Uint8Array | string,
  recipients: readonly string[] | Passphrase,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  // Values that exceed the limit before sealing need not be encrypted.
  assertSize(bytes.byteLength);
  const sealed = await createEncrypter(recipients).encrypt(bytes);
  assertSize(sealed.byteLength);
  return new Uint8Array(sealed);
}

function createEncrypter(recipients: readonly string[] | Passphrase): Encrypter {
  const encrypter = new Encrypter();
  if ('passphrase' in recipients) {
    if (recipients.passphrase === '')
      throw new SealingError('invalid_key', 'Expected a passphrase; received an empty string.');
    encrypter.setPassphrase(recipients.passphrase);
    return encrypter;
  }
  const distinct = new Set(recipients.map((recipient) => recipient.trim()));
  if (distinct.size === 0 || distinct.size > MAX_RECIPIENTS) {
    throw new SealingError('invalid_key', `Expected 1 to ${MAX_RECIPIENTS} recipients; received ${distinct.size}.`);
  }
  for (const recipient of distinct) addRecipient(encrypter, recipient);
  return encrypter;
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new SealingError('invalid_key', `Expected a recipient such as age1…; received ${describe(recipient)}.`);
  }
}

/** Describes an invalid recipient without quoting an identity that was passed by mistake. */
function describe(recipient: string): string {
  if (/^AGE-SECRET-KEY-/i.test(recipient)) return 'an identity, which must stay secret';
  if (recipient.startsWith('ssh-')) return 'an SSH key';
  return recipient.startsWith('age1') ? `the invalid key "${recipient.slice(0, 16)}…"` : 'something else';
}

function assertSize(size: number): void {
  if (size <= MAX_SEALED_BYTES) return;
  throw new SealingError(
    'too_large',
    `Expected a value of at most ${MAX_SEALED_BYTES} bytes once sealed; received more.`,
  );
}
