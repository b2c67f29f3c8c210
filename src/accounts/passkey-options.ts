/** The WebAuthn options that browsers receive. */
import type { components } from '../generated/dashboard/types.js';
import { CEREMONY_MS } from './challenges.js';
import type { RelyingParty } from './relying-party.js';

export type CreationOptions = components['schemas']['CreationOptions'];
export type RequestOptions = components['schemas']['RequestOptions'];

/** The COSE numbers of the supported signature algorithms, in order of preference: Ed25519, ES256, RS256. */
export const SIGNATURE_ALGORITHMS: readonly number[] = [-8, -7, -257];

export interface CreationOptionsInput {
  readonly username: string;
  readonly displayName: string;
  readonly userHandle: string;
  readonly challenge: string;
  /** The ids of the user's passkeys. An authenticator that already has one of them creates no second. */
  readonly existingPasskeyIds?: readonly string[];
}

/** Requests a discoverable credential, so that sign-in needs no username and the server reveals no account. */
export function toCreationOptions({ id, name }: RelyingParty, offer: CreationOptionsInput): CreationOptions {
  const { username, displayName, userHandle, challenge, existingPasskeyIds = [] } = offer;
  return {
    rp: { id, name },
    user: { id: userHandle, name: username, displayName },
    challenge,
    pubKeyCredParams: SIGNATURE_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CEREMONY_MS,
    excludeCredentials: existingPasskeyIds.map((credential) => ({ type: 'public-key', id: credential })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    attestation: 'none',
    // Passkeys with PRF can wrap keys. Authenticators decide on this extension when they create the passkey.
    extensions: { prf: {} },
  };
}

/** Requests any passkey for this site. The empty list reveals nothing about accounts. */
export function toRequestOptions({ id }: RelyingParty, challenge: string): RequestOptions {
  return { challenge, rpId: id, timeout: CEREMONY_MS, allowCredentials: [], userVerification: 'preferred' };
}
