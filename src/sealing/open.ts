import { Decrypter, armor, identityToRecipient } from 'age-encryption';
import type { Passphrase } from './seal.js';
import { SealingError } from './sealing-error.js';

const ARMOR_START = '-----BEGIN AGE ENCRYPTED FILE-----';

/** What age says when a file is whole and sealed to others. */
const NO_MATCH = "no identity matched any of the file's recipients";

/**
 * Opens an age file, armored or not.
 *
 * @param identity One or more identities (`AGE-SECRET-KEY-1…`) as text, also
 * with comments as `age-keygen` writes them; a browser's own X25519 key; or
 * the passphrase that the file was sealed with.
 * @throws SealingError `invalid_key` for an identity that is none, `not_sealed` for what is no
 * whole age file, `no_match` for one that is sealed to others.
 */
export async function open(
  sealed: ArrayBuffer | Uint8Array,
  identity: CryptoKey | Passphrase | string,
): Promise<Uint8Array<ArrayBuffer>> {
  const decrypter = createDecrypter(identity);
  try {
    return new Uint8Array(await decrypter.decrypt(removeArmor(new Uint8Array(sealed))));
  } catch (error) {
    // What the file holds where it should not is no text for a message.
    if (error instanceof Error && error.message === NO_MATCH) {
      throw new SealingError('no_match', 'Expected the identity of one whom the value is sealed to; it is of another.');
    }
    throw new SealingError('not_sealed', 'Expected an age file that is whole; received something else.');
  }
}

/** The public keys of one or more identities, in their order. */
export async function toRecipients(identities: string): Promise<string[]> {
  return Promise.all(readIdentities(identities).map((identity) => identityToRecipient(identity).catch(refuseIdentity)));
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
  return identities.length > 0 ? identities : refuseIdentity();
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    refuseIdentity();
  }
}

/** Without what came, and without the library's words, which repeat it. */
function refuseIdentity(): never {
  throw new SealingError(
    'invalid_key',
    'Expected age identities such as AGE-SECRET-KEY-1…, each on a line of its own.',
  );
}

function removeArmor(sealed: Uint8Array): Uint8Array {
  const start = new TextDecoder().decode(sealed.subarray(0, 100)).trimStart();
  return start.startsWith(ARMOR_START) ? armor.decode(new TextDecoder().decode(sealed)) : sealed;
}
