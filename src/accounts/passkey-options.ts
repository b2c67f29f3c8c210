/** What a browser is asked for. */
import { generateAuthenticationOptions, generateRegistrationOptions } from '@simplewebauthn/server';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { CEREMONY_MS } from './challenges.js';
import type { RelyingParty } from './relying-party.js';

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

export interface PasskeyOffer {
  readonly username: string;
  readonly displayName: string;
  readonly userHandle: string;
  readonly challenge: string;
  /** The ids of the passkeys that the person has: an authenticator that holds one makes no second. */
  readonly known?: readonly string[];
}

/** A discoverable credential, so that whoever signs in need not say who they are, and the server need not tell. */
export function toCreationOptions({ id, name }: RelyingParty, offer: PasskeyOffer): Promise<CreationOptions> {
  const { username, displayName, userHandle, challenge, known = [] } = offer;
  return generateRegistrationOptions({
    rpID: id,
    rpName: name,
    userName: username,
    userDisplayName: displayName,
    userID: toBytes(userHandle),
    challenge: toBytes(challenge),
    timeout: CEREMONY_MS,
    excludeCredentials: known.map((credential) => ({ id: credential })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  });
}

/** Any passkey of ours; none is listed, so the options tell nothing of any account. */
export function toRequestOptions({ id }: RelyingParty, challenge: string): Promise<RequestOptions> {
  const options = { rpID: id, challenge: toBytes(challenge), timeout: CEREMONY_MS };
  return generateAuthenticationOptions({ ...options, allowCredentials: [], userVerification: 'preferred' });
}

const toBytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
