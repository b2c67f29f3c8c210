/** Opens and stores values in the pages: sealed in this browser, and signed if it has a signing key. Loaded on demand. */
import { addWriter, describeSigner, listWriters, signValue } from '../../../../sealing/authentic-values.js';
import {
  type NewSecret,
  type SealedRequest,
  sealNewSecret,
  sealSecretReplacement,
  type SecretReplacement,
} from '../../../../sealing/put-secret.js';
import { open } from '../../../../sealing/seal.js';
import type { Signer } from '../../../../sealing/value-statement.js';
import { requireData, toProblem } from '../../api.js';
import { createBrowserKeyCheck, findBrowserSigner, readBrowserKeys, saveBrowserKeys } from '../browser-keys.js';
import type { Identity } from '../identity/wrapping.js';
import type { ObjectMetadata, ObjectVersion } from '../metadata.js';
import { locateSecret, secretsClient } from '../secrets.js';
import { fetchValue, readCheckedValue, readSignatureState, rememberNewest } from './trust.js';

/** Stores a new secret. @throws as `sealNewSecret`. */
export async function storeSecret(secret: NewSecret): Promise<void> {
  const signer = await findBrowserSigner();
  const { stored, startedAt } = await storeOnce(secret, () =>
    sealNewSecret(secretsClient, { ...secret, checkKeys: createBrowserKeyCheck(), ...(signer && { signer }) }),
  );
  if (signer) await rememberSigned(stored, { signer, startedAt });
}

/** Replaces the value of a secret, unless it has changed since it was read. @throws as `sealSecretReplacement`. */
export async function storeReplacement(
  object: ObjectMetadata,
  change: Omit<SecretReplacement, 'etag' | 'id' | 'slug'>,
): Promise<void> {
  const { slug, id, etag, version } = object;
  const signer = await findBrowserSigner();
  const secret = { slug, id, etag, ...(version !== undefined && { version }), ...change };
  const { stored, startedAt } = await storeOnce(secret, () =>
    sealSecretReplacement(secretsClient, {
      ...secret,
      checkKeys: createBrowserKeyCheck(object),
      ...(signer && { signer }),
    }),
  );
  if (signer) await rememberSigned(stored, { signer, startedAt });
}

interface SealedAttempt {
  /** The digest of the plain input. */
  readonly input: string;
  readonly request: SealedRequest;
  readonly startedAt: number;
}

/** The last attempt that got no response. */
let lost: SealedAttempt | undefined;

/**
 * Seals and stores a value. If the response is lost, an equal attempt sends the same sealed value, which the server stores
 * once: sealed again, it would be a different change, which the first one prevents.
 */
async function storeOnce(secret: NewSecret | SecretReplacement, seal: () => Promise<SealedRequest>) {
  const input = await digestInput(secret);
  const attempt = lost?.input === input ? lost : { input, startedAt: Date.now(), request: await seal() };
  lost = attempt;
  const stored = await attempt.request.store().catch((error: unknown) => {
    // An error of the server is a response, unlike that of a proxy.
    if (toProblem(error).code !== undefined) lost = undefined;
    throw error;
  });
  lost = undefined;
  return { stored, startedAt: attempt.startedAt };
}

/** The plain value must not stay in memory. */
async function digestInput({ value, ...rest }: NewSecret | SecretReplacement): Promise<string> {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  const parts = new Blob([JSON.stringify(rest), '\n', bytes as Uint8Array<ArrayBuffer>]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await parts.arrayBuffer())).join(' ');
}

/** Restores a previous value, and signs it again if it is signed. */
export async function restoreValue(object: ObjectMetadata, previous: ObjectVersion): Promise<void> {
  const signer = previous.signature === undefined ? undefined : await findBrowserSigner();
  const startedAt = Date.now();
  const signature = signer && (await signAgain(signer, object, previous));
  const { path, query } = locateSecret(object);
  const params = { path: { ...path, version: previous.version }, query };
  const init = signature === undefined ? { params } : { params, body: { signature } };
  const stored = requireData(await secretsClient.POST('/objects/{slug}/versions/{version}/restore', init));
  if (signer) await rememberSigned(stored, { signer, startedAt });
}

async function signAgain(signer: Signer, object: ObjectMetadata, previous: ObjectVersion): Promise<string> {
  const { slug, id, version = 0 } = object;
  const { sealed } = await readCheckedValue(object, previous);
  return signValue(signer, { slug, id, version: version + 1, sealed, recipients: previous.recipients ?? [] });
}

/** Renames a secret, and signs its value again if it is signed, as the name is part of the signature. */
export async function renameSecret(object: ObjectMetadata, slug: string): Promise<void> {
  const signer = object.signature === undefined ? undefined : await findBrowserSigner();
  if (signer !== undefined) return sign(object, { signer, slug });
  requireData(await secretsClient.PATCH('/objects/{slug}', { params: locateSecret(object), body: { slug } }));
}

/** Signs the stored value of a secret, which the user has compared with its source. */
export async function signStoredValue(object: ObjectMetadata): Promise<void> {
  const signer = await findBrowserSigner();
  if (signer === undefined) throw new Error('This browser has no signing key.');
  await sign(object, { signer });
}

interface Signing {
  readonly signer: Signer;
  /** A new name. Without it, a value that this browser would reject is signed too. */
  readonly slug?: string;
}

async function sign(object: ObjectMetadata, { signer, slug }: Signing): Promise<void> {
  const { id, etag, version = 1, recipients = [] } = object;
  const { sealed } = slug === undefined ? await fetchValue(object) : await readCheckedValue(object);
  const { time: previousTime = 0 } = await readSignatureState(object);
  const startedAt = Date.now();
  const value = { slug: slug ?? object.slug, id, version, sealed, recipients, previousTime };
  const signature = await signValue(signer, value);
  const header = etag === undefined ? {} : { 'If-Match': etag };
  const params = { ...locateSecret(object), header };
  const body = { signature, ...(slug !== undefined && { slug }) };
  const signed = requireData(await secretsClient.PATCH('/objects/{slug}', { params, body }));
  await rememberSigned(signed, { signer, startedAt });
}

interface Signed {
  readonly signer: Signer;
  /** A time before the signature. */
  readonly startedAt: number;
}

/** Trusts the key of this browser for a name that it has signed, and remembers the number of the value. */
async function rememberSigned({ id, slug, version }: ObjectMetadata, { signer, startedAt }: Signed): Promise<void> {
  const { key } = await describeSigner(signer);
  const known = readBrowserKeys();
  if (!listWriters(known, slug).includes(key)) saveBrowserKeys({ ...known, ...addWriter(known, key, slug) });
  if (version !== undefined) rememberNewest({ id, version, time: startedAt });
}

/**
 * Fetches a sealed value, checks its signature, and opens it in this browser.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity; as `checkValue`.
 */
export async function openValue(object: ObjectMetadata, { secret }: Identity): Promise<Uint8Array<ArrayBuffer>> {
  const { sealed } = await readCheckedValue(object);
  return open(sealed, secret);
}

/**
 * Opens the value of a secret, and reseals it to the current keys of its consumers and of the owner.
 *
 * @throws SealingError `no_match` when the value is not sealed to the identity, `no_key` for a consumer without a key;
 * ApiError `precondition_failed` when the value was replaced after `object` was read.
 */
export async function resealValue(object: ObjectMetadata, identity: Identity): Promise<void> {
  const value = await openValue(object, identity);
  await storeReplacement(object, { value, keepReadableCopy: true });
}
