/** The cryptography of passkeys, which is @simplewebauthn's. */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { PasskeysTable } from '../storage/tables.js';
import { refuseCeremony } from './credential-json.js';
import { ALGORITHMS } from './passkey-options.js';
import type { RelyingParty } from './relying-party.js';

export type NewPasskey = Pick<PasskeysTable, 'counter' | 'id' | 'public_key' | 'transports'>;

interface Expectation {
  readonly challenge: string;
  readonly relyingParty: RelyingParty;
}

/** WebAuthn's own names; anything else an answer calls a transport is left out. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/**
 * Checks a new credential: that it answers our challenge, at our origin, for our
 * name, in the presence of a person.
 *
 * @throws AppError the refusal of a ceremony.
 */
export async function verifyNewPasskey(
  credential: unknown,
  { challenge, relyingParty }: Expectation,
): Promise<NewPasskey> {
  const response = credential as RegistrationResponseJSON;
  const { verified, registrationInfo } = await refusing(async () => {
    requirePlain(response);
    return verifyRegistrationResponse({
      response,
      ...expected(challenge, relyingParty),
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
  });
  if (!verified) throw refuseCeremony();
  const { id, publicKey, counter } = registrationInfo.credential;
  return {
    id,
    public_key: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: readTransports(response.response.transports).join(' '),
  };
}

/**
 * Checks that a known credential signed our challenge.
 *
 * @returns its counter, which has gone up since the last time, or is 0 with authenticators that don't count.
 * @throws AppError the refusal of a ceremony.
 */
export async function verifyPasskey(
  credential: unknown,
  passkey: PasskeysTable,
  { challenge, relyingParty }: Expectation,
): Promise<number> {
  const response = credential as AuthenticationResponseJSON;
  const { verified, authenticationInfo } = await refusing(() =>
    verifyAuthenticationResponse({
      response,
      ...expected(challenge, relyingParty),
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.counter,
      },
    }),
  );
  // Whoever signs in without a name is who their authenticator says; this must be the passkey's owner.
  if (!verified || response.response.userHandle !== passkey.user_handle) throw refuseCeremony();
  return authenticationInfo.newCounter;
}

function expected(challenge: string, { id, origin }: RelyingParty) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    // Preferred, not required: a security key without a PIN is still a thing one has to hold.
    requireUserVerification: false,
  };
}

/**
 * We ask for no attestation, so browsers leave it out, or pass on one that the
 * credential signed itself. Any other holds certificates, for which the verifier
 * would fetch revocation lists from wherever they say.
 */
function requirePlain({ response }: RegistrationResponseJSON): void {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw refuseCeremony();
}

function readTransports(transports: unknown): string[] {
  return Array.isArray(transports) ? TRANSPORTS.filter((known) => transports.includes(known)) : [];
}

/** What the library throws is about the answer it was given, which comes from outside. */
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    throw refuseCeremony(cause);
  }
}
