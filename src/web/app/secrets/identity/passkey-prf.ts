import { webauthn } from 'age-encryption';
import { publicOrigin } from '../../page-data.js';

/** The domain separator of age's format for passkeys. */
const LABEL = 'age-encryption.org/fido2prf';

/** Seals to one passkey. Sealing needs the device of the passkey too. */
export class PasskeyRecipient extends webauthn.WebAuthnRecipient {
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
export class PasskeyIdentity extends webauthn.WebAuthnIdentity {
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
