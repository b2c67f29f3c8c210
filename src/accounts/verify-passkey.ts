/**
 * Verifies passkeys with `@simplewebauthn/server`. Loading the library takes about 0.4 s of CPU time, so it is
 * loaded by the first ceremony.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { PasskeysTable } from '../storage/tables.js';
import { ceremonyError, type RelyingParty, SIGNATURE_ALGORITHMS } from './ceremony.js';

export type NewPasskey = Pick<PasskeysTable, 'counter' | 'id' | 'public_key' | 'transports'>;

type AttestationObject = ReturnType<typeof decodeAttestationObject>;

interface Expectation {
  readonly challenge: string;
  readonly relyingParty: RelyingParty;
}

/** The transports that WebAuthn defines; others are dropped. */
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/**
 * Verifies a new credential: its challenge, origin, relying party id and user presence.
 *
 * @throws AppError as {@link ceremonyError} creates it.
 */
export async function verifyNewPasskey(
  credential: unknown,
  { challenge, relyingParty }: Expectation,
): Promise<{ readonly passkey: NewPasskey; readonly isUserVerified: boolean }> {
  const { decodeAttestationObject, verifyRegistrationResponse } = await import('./simplewebauthn.js');
  const response = credential as RegistrationResponseJSON;
  const { verified, registrationInfo } = await withCeremonyError(async () => {
    const bytes = Buffer.from(response.response.attestationObject, 'base64url');
    assertNoCertificates(decodeAttestationObject(new Uint8Array(bytes)));
    return verifyRegistrationResponse({
      response,
      ...expected(challenge, relyingParty),
      supportedAlgorithmIDs: [...SIGNATURE_ALGORITHMS],
    });
  });
  if (!verified) throw ceremonyError();
  const { id, publicKey, counter } = registrationInfo.credential;
  const passkey = {
    id,
    public_key: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: readTransports(response.response.transports).join(' '),
  };
  return { passkey, isUserVerified: registrationInfo.userVerified };
}

/**
 * Verifies that a known credential signed the challenge.
 *
 * @returns its new counter, which is larger than the previous one, or 0 for authenticators without a counter; and whether
 * the authenticator verified its user by a PIN or biometrics.
 * @throws AppError as {@link ceremonyError} creates it.
 */
export async function verifyPasskey(
  credential: unknown,
  passkey: PasskeysTable,
  { challenge, relyingParty }: Expectation,
): Promise<{ readonly counter: number; readonly isUserVerified: boolean }> {
  const { verifyAuthenticationResponse } = await import('./simplewebauthn.js');
  const response = credential as AuthenticationResponseJSON;
  const { verified, authenticationInfo } = await withCeremonyError(() =>
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
  // Sign-in needs no username, so the authenticator names the user, who must be the owner of the passkey.
  if (!verified || response.response.userHandle !== passkey.user_handle) throw ceremonyError();
  return { counter: authenticationInfo.newCounter, isUserVerified: authenticationInfo.userVerified };
}

function expected(challenge: string, { id, origin }: RelyingParty) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    // Required of admins only, by `assertUserVerified`: a security key without a PIN still proves possession.
    requireUserVerification: false,
  };
}

/**
 * Rejects attestations with certificates, for which the verifier would fetch revocation lists from arbitrary URLs. The
 * options request no attestation, so browsers send none, or one that the credential signed itself.
 */
function assertNoCertificates(attestation: AttestationObject): void {
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw ceremonyError();
}

function readTransports(transports: unknown): string[] {
  return Array.isArray(transports) ? TRANSPORTS.filter((known) => transports.includes(known)) : [];
}

/** Converts errors of the library, which are caused by the credential, to the error of a ceremony. */
async function withCeremonyError<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    throw ceremonyError(cause);
  }
}
