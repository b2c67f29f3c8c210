/** Stores values from the pages: sealed in this browser, and signed if it has a signing key. Loaded on demand. */
import { addWriter, describeSigner, listWriters, signValue } from '../../../../sealing/authentic-values.js';
import { type NewSecret, putSecret, replaceSecret, type SecretReplacement } from '../../../../sealing/put-secret.js';
import type { Signer } from '../../../../sealing/value-statement.js';
import { requireData } from '../../api.js';
import { createBrowserKeyCheck, readBrowserKeys, saveBrowserKeys } from '../known-keys.js';
import type { ObjectMetadata, ObjectVersion } from '../names.js';
import { locateSecret, secretsClient } from '../secrets.js';
import { findBrowserSigner } from './browser-signer.js';
import { readCheckedValue, fetchValue, readSignatureState, rememberNewest } from './check-value.js';

/** Stores a new secret. @throws as `putSecret`. */
export async function storeSecret(secret: NewSecret): Promise<void> {
  const signer = await findBrowserSigner();
  const startedAt = Date.now();
  const stored = await putSecret(secretsClient, {
    ...secret,
    checkKeys: createBrowserKeyCheck(),
    ...(signer && { signer }),
  });
  if (signer) await rememberSigned(stored, { signer, startedAt });
}

/** Replaces the value of a secret, unless it has changed since it was read. @throws as `replaceSecret`. */
export async function storeReplacement(
  object: ObjectMetadata,
  change: Omit<SecretReplacement, 'etag' | 'id' | 'slug'>,
): Promise<void> {
  const { slug, id, etag, version } = object;
  const signer = await findBrowserSigner();
  const startedAt = Date.now();
  const stored = await replaceSecret(secretsClient, {
    ...{ slug, id, etag, ...(version !== undefined && { version }), ...change },
    checkKeys: createBrowserKeyCheck(object),
    ...(signer && { signer }),
  });
  if (signer) await rememberSigned(stored, { signer, startedAt });
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
