import { Encrypter } from 'age-encryption';
import { SealingError } from './sealing-error.js';

/** What the service takes, 1 MiB; of it, each recipient needs about 100 bytes and each 64 KiB of the value 16. */
export const MAX_SEALED_BYTES = 2 ** 20;

/** As many as an object may have consumers, and the owner. */
const MAX_RECIPIENTS = 101;

/** Whoever knows it opens the value; it alone has to withstand guessing, so it should be long. */
export interface Passphrase {
  readonly passphrase: string;
}

/**
 * Seals a value so that only the holders of the recipients' identities can
 * open it, as an age file that the `age` program reads too.
 *
 * @param value Bytes, or text that becomes UTF-8.
 * @param recipients Public keys (`age1…`), each counted once, or a passphrase in their place.
 * @throws SealingError `invalid_key` for a recipient that is none, `too_large` above {@link MAX_SEALED_BYTES}.
 */
export async function seal(
  value: Uint8Array | string,
  recipients: readonly string[] | Passphrase,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  // Looked at first as well: what is far too large need not be worked on.
  requireSize(bytes.byteLength);
  const sealed = await createEncrypter(recipients).encrypt(bytes);
  requireSize(sealed.byteLength);
  return new Uint8Array(sealed);
}

function createEncrypter(recipients: readonly string[] | Passphrase): Encrypter {
  const encrypter = new Encrypter();
  if ('passphrase' in recipients) {
    if (recipients.passphrase === '') throw new SealingError('invalid_key', 'Expected a passphrase; received nothing.');
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

/** An identity given by mistake is never shown. */
function describe(recipient: string): string {
  if (/^AGE-SECRET-KEY-/i.test(recipient)) return 'an identity, which is secret';
  if (recipient.startsWith('ssh-')) return 'an SSH key';
  return recipient.startsWith('age1') ? `"${recipient.slice(0, 16)}…", which is damaged` : 'something else';
}

function requireSize(size: number): void {
  if (size <= MAX_SEALED_BYTES) return;
  throw new SealingError(
    'too_large',
    `Expected a value of at most ${MAX_SEALED_BYTES} bytes once sealed; received more.`,
  );
}
