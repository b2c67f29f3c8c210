/** What a browser is asked for. */
import type { components } from '../generated/dashboard/types.js';
import { CEREMONY_MS } from './challenges.js';
import type { RelyingParty } from './relying-party.js';

export type CreationOptions = components['schemas']['CreationOptions'];
export type RequestOptions = components['schemas']['RequestOptions'];

/** Signatures that we can check, by their COSE numbers, the best first: Ed25519, ES256, RS256. */
export const ALGORITHMS: readonly number[] = [-8, -7, -257];

export interface PasskeyOffer {
  readonly username: string;
  readonly displayName: string;
  readonly userHandle: string;
  readonly challenge: string;
  /** The ids of the passkeys that the person has: an authenticator that holds one makes no second. */
  readonly known?: readonly string[];
}

/** A discoverable credential, so that whoever signs in need not say who they are, and the server need not tell. */
export function toCreationOptions({ id, name }: RelyingParty, offer: PasskeyOffer): CreationOptions {
  const { username, displayName, userHandle, challenge, known = [] } = offer;
  return {
    rp: { id, name },
    user: { id: userHandle, name: username, displayName },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CEREMONY_MS,
    excludeCredentials: known.map((credential) => ({ type: 'public-key', id: credential })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    attestation: 'none',
    // So that it can wrap keys for its owner's browser, which authenticators that can decide when a passkey is made.
    extensions: { prf: {} },
  };
}

/** Any passkey of ours; none is listed, so the options tell nothing of any account. */
export function toRequestOptions({ id }: RelyingParty, challenge: string): RequestOptions {
  return { challenge, rpId: id, timeout: CEREMONY_MS, allowCredentials: [], userVerification: 'preferred' };
}
