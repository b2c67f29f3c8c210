/** Makes the owner's identity, and wraps and unwraps it, in the page alone. Every copy is an armored age file. */
import { Decrypter, Encrypter, armor, generateIdentity, identityToRecipient } from 'age-encryption';
import { toRecipients } from '../../../../sealing/open.js';
import { PasskeyIdentity, PasskeyRecipient } from './passkey-prf.js';

/** 32 MiB and a moment. The phrase has 256 bits, which need no more stretching than that. */
const SCRYPT_WORK_FACTOR = 15;

export interface Identity {
  /** `AGE-SECRET-KEY-1…`, or several on lines of their own. */
  readonly secret: string;
  /** Of the first. */
  readonly publicKey: string;
}

export async function makeIdentity(): Promise<Identity> {
  const secret = await generateIdentity();
  return { secret, publicKey: await identityToRecipient(secret) };
}

/** Opens by `age -d` and the phrase too. */
export async function wrapByPhrase({ secret }: Identity, phrase: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(SCRYPT_WORK_FACTOR);
  encrypter.setPassphrase(phrase);
  return armor.encode(await encrypter.encrypt(secret));
}

export async function unwrapByPhrase(wrapped: string, phrase: string): Promise<Identity> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(phrase);
  return unwrap(decrypter, wrapped, 'That is another recovery phrase than the one of your identity.');
}

/** Asks for the passkey. @throws Error where it can't wrap anything. */
export async function wrapByPasskey({ secret }: Identity, credentialId: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(new PasskeyRecipient(credentialId));
  return armor.encode(await encrypter.encrypt(secret));
}

/** Asks for the passkey. */
export async function unwrapByPasskey(wrapped: string, credentialId: string): Promise<Identity> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(new PasskeyIdentity(credentialId));
  return unwrap(decrypter, wrapped, 'This passkey doesn’t open its copy of your identity any more. Use the phrase.');
}

/** Reads an identity as `age-keygen` writes it, with comments. */
export async function readIdentity(text: string): Promise<Identity> {
  const [publicKey = ''] = await toRecipients(text);
  return { secret: text.trim(), publicKey };
}

/** @param otherwise What to say when it was wrapped with something else; what the browser says of passkeys stays. */
async function unwrap(decrypter: Decrypter, wrapped: string, otherwise: string): Promise<Identity> {
  try {
    return await readIdentity(await decrypter.decrypt(armor.decode(wrapped), 'text'));
  } catch (error) {
    const isOther = error instanceof Error && error.message.startsWith('no identity matched');
    throw isOther ? new Error(otherwise) : error;
  }
}
