/** Creates, wraps and unwraps the owner's identity in the browser. Every wrapped copy is an armored age file. */
import { Decrypter, Encrypter, armor, generateIdentity, identityToRecipient } from 'age-encryption';
import { toRecipients } from '../../../../sealing/seal.js';
import { PasskeyIdentity, PasskeyRecipient } from './passkey-prf.js';

/** Takes 32 MiB of memory. The phrase has 256 random bits, so no stronger key stretching is needed. */
const SCRYPT_WORK_FACTOR = 15;

export interface Identity {
  /** One or more identities (`AGE-SECRET-KEY-1…`), one per line; comments are allowed. */
  readonly secret: string;
  /** The public key of the first identity. */
  readonly publicKey: string;
}

export async function generateOwnerIdentity(): Promise<Identity> {
  const secret = await generateIdentity();
  return { secret, publicKey: await identityToRecipient(secret) };
}

/** Wraps an identity with the recovery phrase. The result can be decrypted with `age -d` too. */
export async function wrapWithPhrase({ secret }: Identity, phrase: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(SCRYPT_WORK_FACTOR);
  encrypter.setPassphrase(phrase);
  return armor.encode(await encrypter.encrypt(secret));
}

export async function unwrapWithPhrase(wrapped: string, phrase: string): Promise<Identity> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(phrase);
  return unwrap(decrypter, wrapped, 'This recovery phrase doesn’t match your key.');
}

/**
 * Wraps an identity with a passkey, which the browser asks the user for.
 *
 * @throws Error when the passkey doesn't support PRF.
 */
export async function wrapWithPasskey({ secret }: Identity, credentialId: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(new PasskeyRecipient(credentialId));
  return armor.encode(await encrypter.encrypt(secret));
}

/** Unwraps an identity with a passkey, which the browser asks the user for. */
export async function unwrapWithPasskey(wrapped: string, credentialId: string): Promise<Identity> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(new PasskeyIdentity(credentialId));
  return unwrap(decrypter, wrapped, 'This passkey can no longer unlock your key. Use the recovery phrase.');
}

/** Parses the output of `age-keygen`, comments included. */
export async function parseIdentity(text: string): Promise<Identity> {
  const [publicKey = ''] = await toRecipients(text);
  return { secret: text.trim(), publicKey };
}

/**
 * @param mismatch The error message when the copy was wrapped with a different phrase or passkey. Errors of the browser
 * keep their own message.
 */
async function unwrap(decrypter: Decrypter, wrapped: string, mismatch: string): Promise<Identity> {
  try {
    return await parseIdentity(await decrypter.decrypt(armor.decode(wrapped), 'text'));
  } catch (error) {
    const isMismatch = error instanceof Error && error.message.startsWith('no identity matched');
    throw isMismatch ? new Error(mismatch) : error;
  }
}
