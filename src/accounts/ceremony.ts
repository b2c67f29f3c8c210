/** The parts that all WebAuthn ceremonies share: options for browsers, challenges, and the checks of credentials. */
import { hash, randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { AppError } from '@trellis/core/errors';
import type { components } from '../generated/dashboard/types.js';
import type { Database } from '../storage/database.js';
import type { ChallengesTable, PasskeysTable } from '../storage/tables.js';

export type CreationOptions = components['schemas']['CreationOptions'];
export type RequestOptions = components['schemas']['RequestOptions'];

/** The COSE numbers of the supported signature algorithms, in order of preference: Ed25519, ES256, RS256. */
const SIGNATURE_ALGORITHMS: readonly number[] = [-8, -7, -257];

interface CreationOptionsInput {
  readonly username: string;
  readonly displayName: string;
  readonly userHandle: string;
  readonly challenge: string;
  /** The ids of the user's passkeys. An authenticator that already has one of them creates no second. */
  readonly existingPasskeyIds?: readonly string[];
  /** Whether the authenticator must verify its user, as that of an admin. */
  readonly requiresVerification?: boolean;
}

/** Requests a discoverable credential, so that sign-in needs no username and the server reveals no account. */
export function toCreationOptions({ id, name }: RelyingParty, offer: CreationOptionsInput): CreationOptions {
  const { username, displayName, userHandle, challenge, existingPasskeyIds = [], requiresVerification } = offer;
  const userVerification = requiresVerification ? 'required' : 'preferred';
  return {
    rp: { id, name },
    user: { id: userHandle, name: username, displayName },
    challenge,
    pubKeyCredParams: SIGNATURE_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CEREMONY_MS,
    excludeCredentials: existingPasskeyIds.map((credential) => ({ type: 'public-key', id: credential })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
    attestation: 'none',
    // Passkeys with PRF can wrap keys. Authenticators decide on this extension when they create the passkey.
    extensions: { prf: {} },
  };
}

/** Requests any passkey for this site. The empty list reveals nothing about accounts. */
export function toRequestOptions({ id }: RelyingParty, challenge: string): RequestOptions {
  return { challenge, rpId: id, timeout: CEREMONY_MS, allowCredentials: [], userVerification: 'preferred' };
}

/** The lifetime of a challenge in milliseconds, long enough to fetch a security key. */
const CEREMONY_MS = 5 * 60_000;

type Ceremony = ChallengesTable['ceremony'];

/** The state of a ceremony between its start and its end. */
type CeremonyState = Partial<
  Pick<ChallengesTable, 'display_name' | 'invitation_id' | 'person_id' | 'user_handle' | 'username'>
>;

/** Creates a challenge of 32 random bytes in base64url. Only its hash is stored; it is valid for 5 minutes. */
export async function createChallenge(
  database: Database,
  { ceremony, at, ...state }: CeremonyState & { readonly ceremony: Ceremony; readonly at: number },
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const row = {
    hash: hash('sha256', challenge),
    ceremony,
    person_id: null,
    invitation_id: null,
    username: null,
    display_name: null,
    user_handle: null,
    ...state,
    expires_at: at + CEREMONY_MS,
  };
  await database.insertInto('challenges').values(row).execute();
  return challenge;
}

/**
 * Finds and deletes a challenge, so that it can be used only once.
 *
 * @returns `undefined` when it is unknown, expired or belongs to a different ceremony.
 */
export async function consumeChallenge(
  database: Database,
  challenge: string,
  { ceremony, at }: { readonly ceremony: Ceremony; readonly at: number },
): Promise<ChallengesTable | undefined> {
  const row = await database
    .deleteFrom('challenges')
    .where('hash', '=', hash('sha256', challenge))
    .returningAll()
    .executeTakeFirst();
  return row?.ceremony === ceremony && row.expires_at > at ? row : undefined;
}

/** Creates the only error of all ceremonies. The reason is not revealed, as it would help an attacker. */
export function ceremonyError(cause?: unknown): AppError {
  const message = 'Passkey verification failed or took longer than 5 minutes. Start again.';
  return new AppError('invalid_input', message, { cause });
}

/**
 * Asserts that an admin was verified by a PIN or biometrics, so that a lost or stolen security key is not enough.
 *
 * @throws AppError `invalid_input`. The passkey is valid, so the reason reveals nothing.
 */
export function assertUserVerified(user: { readonly isAdmin: boolean }, isUserVerified: boolean): void {
  if (isUserVerified || !user.isAdmin) return;
  const message =
    'Admins need a passkey with a PIN or biometrics. Set a PIN for this security key, or use another passkey.';
  throw new AppError('invalid_input', message);
}

/**
 * Reads the challenge from a credential. The signature is not verified here.
 *
 * @throws AppError as {@link ceremonyError} creates it, for a malformed credential.
 */
export function readChallenge(credential: unknown): string {
  const { clientDataJSON } = toFields(toFields(credential).response);
  if (typeof clientDataJSON !== 'string') throw ceremonyError();
  const { challenge, crossOrigin } = parseObject(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  // No page of Trellis is ever embedded in a page of a different origin.
  if (typeof challenge !== 'string' || crossOrigin === true) throw ceremonyError();
  return challenge;
}

/** @throws AppError as {@link ceremonyError} creates it, when the id is missing. */
export function readCredentialId(credential: unknown): string {
  const { id } = toFields(credential);
  if (typeof id !== 'string') throw ceremonyError();
  return id;
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch (cause) {
    throw ceremonyError(cause);
  }
}

function toFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw ceremonyError();
}

/** The WebAuthn relying party. Passkeys are valid for its id and its origin only. */
export interface RelyingParty {
  /** The host name without the port. */
  readonly id: string;
  readonly name: string;
  readonly origin: string;
}

export function toRelyingParty(publicUrl: string): RelyingParty {
  const { origin, hostname } = new URL(publicUrl);
  return { id: hostname, name: 'Trellis', origin };
}

// Verifies passkeys with `@simplewebauthn/server`. Loading the library takes about 0.4 s of CPU time, so it is
// loaded by the first ceremony.

type NewPasskey = Pick<PasskeysTable, 'counter' | 'id' | 'public_key' | 'transports'>;

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
