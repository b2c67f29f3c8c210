/** Creates, wraps and unwraps the owner's identity in the browser. Every wrapped copy is an armored age file. */
import { armor, Decrypter, Encrypter, generateIdentity, identityToRecipient, webauthn } from 'age-encryption';
import { toRecipients } from '../../../../sealing/seal.js';
import { publicOrigin } from '../../page-data.js';

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

/** The domain separator of age's format for passkeys. */
const LABEL = 'age-encryption.org/fido2prf';

/** Seals to one passkey. Sealing needs the device of the passkey too. */
class PasskeyRecipient extends webauthn.WebAuthnRecipient {
  readonly #credentialId: string;

  constructor(credentialId: string) {
    super();
    this.#credentialId = credentialId;
  }

  protected override getCredential(nonce: Uint8Array): Promise<AuthenticationExtensionsPRFValues> {
    return evaluate(this.#credentialId, nonce);
  }
}

/** Opens files that are sealed to one passkey. */
class PasskeyIdentity extends webauthn.WebAuthnIdentity {
  readonly #credentialId: string;

  constructor(credentialId: string) {
    super();
    this.#credentialId = credentialId;
  }

  protected override getCredential(nonce: Uint8Array): Promise<AuthenticationExtensionsPRFValues> {
    return evaluate(this.#credentialId, nonce);
  }
}

/**
 * Derives two secrets from a passkey and a nonce with the PRF extension of WebAuthn. The challenge is local, so the
 * assertion can't be used to sign in.
 *
 * @throws Error when the passkey, its device or the browser doesn't support PRF.
 */
async function evaluate(credentialId: string, nonce: Uint8Array): Promise<AuthenticationExtensionsPRFValues> {
  const credential = await navigator.credentials.get({
    publicKey: {
      rpId: new URL(publicOrigin).hostname,
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      allowCredentials: [{ type: 'public-key', id: fromBase64Url(credentialId) }],
      userVerification: 'required',
      extensions: { prf: { eval: { first: toInput(1, nonce), second: toInput(2, nonce) } } },
    },
  });
  const results = (credential as PublicKeyCredential | null)?.getClientExtensionResults().prf?.results;
  if (results !== undefined) return results;
  throw new Error('This passkey can’t unlock your key: its device or this browser doesn’t support the PRF extension.');
}

function toInput(number: 1 | 2, nonce: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...new TextEncoder().encode(LABEL), number, ...nonce]);
}

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
