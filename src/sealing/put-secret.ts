import { requireData } from '@trellis/client/errors';
import { readAll } from '@trellis/client/paging';
import type { components, SecretsClient } from '../generated/secrets/client.js';
import { signValue } from './authentic-values.js';
import { type CheckKeys, needsAgeProgram, type PartyKey } from './known-keys.js';
import { seal } from './seal.js';
import { SealingError } from './sealing-error.js';
import { toBase64 } from './ssh-signature.js';
import type { Signer } from './value-statement.js';

type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** A value with its metadata and the parties that it is sealed to. */
export interface SecretValue extends RecipientSelection {
  readonly slug: string;
  /** Bytes, or text that is encoded as UTF-8. */
  readonly value: Uint8Array | string;
  /** A replacement without tags keeps the current ones. */
  readonly tags?: readonly string[];
  /**
   * The days until the value is due for rotation; null for never. A replacement without it keeps the current setting.
   */
  readonly rotateAfterDays?: number | null;
  /** A replacement without it keeps the current one. */
  readonly description?: string;
  /** Signs the stored value. */
  readonly signer?: Signer;
  /** Seals instead of {@link seal}, for keys that it does not know. */
  readonly sealWith?: (value: Uint8Array | string, recipients: readonly string[]) => Promise<Uint8Array>;
}

export type NewSecret = SecretValue;

export interface SecretReplacement extends SecretValue {
  /** The id of the variant; required when several have this slug. */
  readonly id?: string;
  /** The expected `etag` of the current value. Without it the replacement is unconditional. */
  readonly etag?: string;
  /** The number of the current value, for the signature of the next one. Without it or the id, both are requested. */
  readonly version?: number;
}

/**
 * Seals a value to the public keys of its consumers, of the owner (with `keepReadableCopy`) and to `recipients`, then
 * stores it as a new secret and records these keys. Stores nothing when it throws.
 *
 * @throws SealingError `no_key` for a party without a public key, `too_large`, `invalid_key`; ApiError for an error
 * response.
 */
export async function putSecret(client: SecretsClient, secret: NewSecret): Promise<ObjectMetadata> {
  return (await sealNewSecret(client, secret)).store();
}

/** A request that stores a sealed value. */
export interface SealedRequest {
  /** @throws ApiError for an error response. */
  readonly store: () => Promise<ObjectMetadata>;
}

/** Does everything of {@link putSecret} before the request that stores the value. */
export async function sealNewSecret(client: SecretsClient, secret: NewSecret): Promise<SealedRequest> {
  const { slug, signer } = secret;
  const { sealed, ...fields } = await sealFor(client, secret);
  const signed = { slug, id: crypto.randomUUID(), version: 1, sealed, recipients: fields.recipients };
  const signature = signer && (await signValue(signer, signed));
  const body = { slug, ...fields, signature };
  return {
    store: async () => {
      return requireObject(await client.POST('/objects', { body }));
    },
  };
}

/**
 * Seals a new value for an existing secret, and keeps the previous value as a version. Without `usedBy` the consumers
 * stay the same, and the value is sealed to their current keys.
 *
 * @throws Like {@link putSecret}; also ApiError 412 `precondition_failed` when the current value doesn't match `etag`.
 */
export async function replaceSecret(client: SecretsClient, secret: SecretReplacement): Promise<ObjectMetadata> {
  return (await sealSecretReplacement(client, secret)).store();
}

/** Does everything of {@link replaceSecret} before the request that stores the value. */
export async function sealSecretReplacement(client: SecretsClient, secret: SecretReplacement): Promise<SealedRequest> {
  const { slug, id, etag } = secret;
  const params = { path: { slug }, query: id === undefined ? {} : { id } };
  const header = etag === undefined ? {} : { 'If-Match': etag };
  const usedBy = secret.usedBy ?? (await readConsumers(client, params));
  const { used_by, sealed, ...body } = await sealFor(client, { ...secret, usedBy });
  const consumers = secret.usedBy === undefined ? {} : { used_by };
  const signature = await signReplacement(client, secret, { sealed, recipients: body.recipients });
  return {
    store: async () => {
      const request = { params: { ...params, header }, body: { ...body, ...consumers, signature } };
      return requireObject(await client.PUT('/objects/{slug}', request));
    },
  };
}

/** Signs the value that becomes the next one of a secret. */
async function signReplacement(
  client: SecretsClient,
  { slug, id, version, signer }: SecretReplacement,
  stored: { readonly sealed: Uint8Array; readonly recipients: readonly string[] },
): Promise<string | undefined> {
  if (signer === undefined) return undefined;
  const current = id === undefined || version === undefined ? await findCurrent(client, slug, id) : { id, version };
  return signValue(signer, { slug, id: current.id, version: current.version + 1, ...stored });
}

/** Requests the id and the number of the current value. */
async function findCurrent(client: SecretsClient, slug: string, id: string | undefined) {
  for await (const object of readAll((page) => client.GET('/objects', { params: { query: { slug, ...page } } }))) {
    const { version } = object;
    if (version !== undefined && (id === undefined || object.id === id)) return { id: object.id, version };
  }
  throw new SealingError('no_key', `The service does not report the number of the current value of ${slug}.`);
}

async function sealFor(client: SecretsClient, secret: SecretValue) {
  const { value, usedBy = [], tags, description, rotateAfterDays, keepReadableCopy = false, sealWith = seal } = secret;
  const recipients = await resolveRecipients(client, secret);
  const sealed = await sealWith(value, recipients);
  return {
    sealed,
    value: toBase64(sealed),
    used_by: [...usedBy],
    recipients,
    keep_readable_copy: keepReadableCopy,
    tags: tags && [...tags],
    description,
    rotate_after_days: rotateAfterDays,
  };
}

async function readConsumers(
  client: SecretsClient,
  params: { readonly path: { slug: string }; readonly query: { id?: string } },
): Promise<string[]> {
  return requireData(await client.GET('/objects/{slug}/used-by', { params })).used_by;
}

function requireObject(result: {
  readonly data?: ObjectMetadata;
  readonly error?: unknown;
  readonly response: Response;
}): ObjectMetadata {
  const stored = requireData(result) as ObjectMetadata | undefined;
  if (stored !== undefined) return stored;
  throw new TypeError(`Expected the stored secret; received status ${result.response.status} without a body.`);
}

/** The parties that a value is sealed to. */
export interface RecipientSelection {
  /** The names of the secret's consumers. Each needs a public key. */
  readonly usedBy?: readonly string[];
  /** Whether to add the owner to the recipients. */
  readonly keepReadableCopy?: boolean;
  /** Further public keys. */
  readonly recipients?: readonly string[];
  /** Compares the keys that the service reports with the ones used before. Without it they are trusted. */
  readonly checkKeys?: CheckKeys;
}

/** The largest page that the service returns. */
const PAGE_SIZE = 100;

/**
 * Returns the distinct public keys of the selected recipients, as the service reports them.
 *
 * @throws SealingError `no_key` that names the parties without a key; ApiError for an error response; the error of
 * `checkKeys`.
 */
async function resolveRecipients(client: SecretsClient, selection: RecipientSelection): Promise<string[]> {
  const { usedBy = [], keepReadableCopy = false, recipients = [], checkKeys } = selection;
  const keys = await findConsumerKeys(client, [...new Set(usedBy)]);
  if (keepReadableCopy) keys.push({ consumer: undefined, publicKey: await requireOwnerKey(client) });
  keys.forEach(assertAgeKey);
  await checkKeys?.(keys);
  const reported = keys.map(({ publicKey }) => publicKey);
  const all = [...new Set([...reported, ...recipients.map((recipient) => recipient.trim())])];
  if (all.length > 0) return all;
  throw new SealingError('no_key', 'Choose at least one recipient: a consumer, the owner or a public key.');
}

async function requireOwnerKey(client: SecretsClient): Promise<string> {
  const { public_key: key } = requireData(await client.GET('/auth/identity'));
  if (key !== undefined) return key;
  throw new SealingError('no_key', 'The owner has no public key, which a readable copy needs.');
}

async function findConsumerKeys(client: SecretsClient, names: readonly string[]): Promise<PartyKey[]> {
  const keys: PartyKey[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const key = await findConsumerKey(client, name);
    if (key === undefined) missing.push(name);
    else keys.push({ consumer: name, publicKey: key });
  }
  if (missing.length === 0) return keys;
  throw new SealingError('no_key', `These consumers have no public key: ${missing.join(', ')}.`);
}

/** Finds the key of a consumer by its exact name. The service also lists names that contain it, in any case. */
async function findConsumerKey(client: SecretsClient, name: string): Promise<string | undefined> {
  for (let page = 1; ; page += 1) {
    const params = { query: { q: name, page, page_size: PAGE_SIZE } };
    const data = requireData(await client.GET('/consumers', { params }));
    // The type allows a plain list too, which the service returns only without parameters.
    if (!('consumers' in data)) return undefined;
    const found = data.consumers.find((consumer) => consumer.name === name);
    if (found || page * PAGE_SIZE >= data.total) return found?.public_key;
  }
}

/**
 * Rejects SSH keys and keys of plugins, which the service does not accept for a party: a manipulated one could make this
 * machine start the program of a plugin.
 */
function assertAgeKey({ consumer = 'the owner', publicKey }: PartyKey): void {
  if (!needsAgeProgram(publicKey)) return;
  throw new SealingError(
    'no_key',
    `Expected an age public key (age1…) for ${consumer}; received a different kind of key.`,
  );
}
