import { webauthn } from 'age-encryption';
import { publicOrigin } from '../../server-facts.js';

/** What both ends of age's format for passkeys agree on. */
const LABEL = 'age-encryption.org/fido2prf';

/** Seals to one passkey; it and its device have to be there for that too. */
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

/** Opens what was sealed to one passkey. */
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
 * Two secrets that this passkey alone gives for a nonce (WebAuthn's PRF). They
 * stay in the page: the answer is not one that signs anybody in.
 *
 * @throws Error where the passkey, its device or the browser gives none.
 */
async function evaluate(credentialId: string, nonce: Uint8Array): Promise<AuthenticationExtensionsPRFValues> {
  const answer = await navigator.credentials.get({
    publicKey: {
      rpId: new URL(publicOrigin).hostname,
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      allowCredentials: [{ type: 'public-key', id: fromBase64Url(credentialId) }],
      userVerification: 'required',
      extensions: { prf: { eval: { first: toInput(1, nonce), second: toInput(2, nonce) } } },
    },
  });
  const results = (answer as PublicKeyCredential | null)?.getClientExtensionResults().prf?.results;
  if (results !== undefined) return results;
  throw new Error('This passkey can’t open the identity: its device or this browser doesn’t offer that (PRF).');
}

function toInput(number: 1 | 2, nonce: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...new TextEncoder().encode(LABEL), number, ...nonce]);
}

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
