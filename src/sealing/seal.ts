import { armor, Decrypter, Encrypter, identityToRecipient } from 'age-encryption';
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

const ARMOR_START = '-----BEGIN AGE ENCRYPTED FILE-----';

/** The library's message for an intact file that is not sealed to the identity. */
const NO_MATCH = "no identity matched any of the file's recipients";

/**
 * Opens an age file, armored or not.
 *
 * @param identity One or more identities (`AGE-SECRET-KEY-1…`), also with the comments of `age-keygen`; an X25519
 * `CryptoKey`; or the passphrase that the file was sealed with.
 * @throws SealingError `invalid_key` for an invalid identity, `not_sealed` for an invalid or truncated age file,
 * `no_match` for a file that is not sealed to the identity.
 */
export async function open(
  sealed: ArrayBuffer | Uint8Array,
  identity: CryptoKey | Passphrase | string,
): Promise<Uint8Array<ArrayBuffer>> {
  const decrypter = createDecrypter(identity);
  try {
    return new Uint8Array(await decrypter.decrypt(removeArmor(new Uint8Array(sealed))));
  } catch (error) {
    // The library's message and `cause` may contain data of the file, so they are dropped.
    if (error instanceof Error && error.message === NO_MATCH) {
      throw new SealingError('no_match', "This identity can't decrypt the value.");
    }
    throw new SealingError('not_sealed', 'Not a valid age file.');
  }
}

/** Returns the public keys of one or more identities, in their order. */
export async function toRecipients(identities: string): Promise<string[]> {
  return Promise.all(
    readIdentities(identities).map((identity) => identityToRecipient(identity).catch(throwInvalidIdentity)),
  );
}

function createDecrypter(identity: CryptoKey | Passphrase | string): Decrypter {
  const decrypter = new Decrypter();
  if (typeof identity === 'string') {
    for (const line of readIdentities(identity)) addIdentity(decrypter, line);
  } else if ('passphrase' in identity) {
    decrypter.addPassphrase(identity.passphrase);
  } else {
    decrypter.addIdentity(identity);
  }
  return decrypter;
}

function readIdentities(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return identities.length > 0 ? identities : throwInvalidIdentity();
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    throwInvalidIdentity();
  }
}

/** Omits the given text and the library's message, which quotes it, as both may contain an identity. */
function throwInvalidIdentity(): never {
  throw new SealingError('invalid_key', 'Expected age identities (AGE-SECRET-KEY-1…), one per line.');
}

function removeArmor(sealed: Uint8Array): Uint8Array {
  const start = new TextDecoder().decode(sealed.subarray(0, 100)).trimStart();
  return start.startsWith(ARMOR_START) ? armor.decode(new TextDecoder().decode(sealed)) : sealed;
}
