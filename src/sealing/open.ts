import { Decrypter, armor, identityToRecipient } from 'age-encryption';
import type { Passphrase } from './seal.js';
import { SealingError } from './sealing-error.js';

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
