import { toBase64 } from './base64.js';
import { decodeError } from '../client/errors.js';
import type { SecretsClient, components } from '../generated/secrets/client.js';
import { resolveRecipients } from './resolve-recipients.js';
import type { RecipientSelection } from './resolve-recipients.js';
import { seal } from './seal.js';

type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** A value with its metadata and the parties that it is sealed to. */
export interface SecretValue extends RecipientSelection {
  readonly slug: string;
  /** Bytes, or text that is encoded as UTF-8. */
  readonly value: Uint8Array | string;
  /** A replacement without tags keeps the current ones. */
  readonly tags?: readonly string[] | undefined;
  /**
   * The days until the value is due for rotation; null for never. A replacement without it keeps the current setting.
   */
  readonly rotateAfterDays?: number | null | undefined;
}

export interface NewSecret extends SecretValue {
  readonly description?: string | undefined;
}

export interface SecretReplacement extends SecretValue {
  /** The id of the variant; required when several have this slug. */
  readonly id?: string | undefined;
  /** The expected `etag` of the current value. Without it the replacement is unconditional. */
  readonly etag?: string | undefined;
}

/**
 * Seals a value to the public keys of its consumers, of the owner (with `keepReadableCopy`) and to `recipients`, then
 * stores it as a new secret and records these keys. Stores nothing when it throws.
 *
 * @throws SealingError `no_key` for a party without a public key, `too_large`, `invalid_key`; ApiError for an error
 * response.
 */
export async function putSecret(client: SecretsClient, secret: NewSecret): Promise<ObjectMetadata> {
  const { slug, description } = secret;
  const sealed = await sealFor(client, secret);
  const body = { slug, ...sealed, ...(description !== undefined && { description }) };
  const { data, error, response } = await client.POST('/objects', { body });
  return requireObject(data, error, response);
}

/**
 * Seals a new value for an existing secret, and keeps the previous value as a version. Without `usedBy` the consumers
 * stay the same, and the value is sealed to their current keys.
 *
 * @throws Like {@link putSecret}; also ApiError 412 `precondition_failed` when the current value doesn't match `etag`.
 */
export async function replaceSecret(client: SecretsClient, secret: SecretReplacement): Promise<ObjectMetadata> {
  const { slug, id, etag } = secret;
  const params = { path: { slug }, query: id === undefined ? {} : { id } };
  const header = etag === undefined ? {} : { 'If-Match': etag };
  const usedBy = secret.usedBy ?? (await readConsumers(client, params));
  const { used_by, ...body } = await sealFor(client, { ...secret, usedBy });
  const consumers = secret.usedBy === undefined ? {} : { used_by };
  const { data, error, response } = await client.PUT('/objects/{slug}', {
    params: { ...params, header },
    body: { ...body, ...consumers },
  });
  return requireObject(data, error, response);
}

async function sealFor(client: SecretsClient, secret: SecretValue) {
  const { value, usedBy = [], tags, rotateAfterDays, keepReadableCopy = false } = secret;
  const recipients = await resolveRecipients(client, secret);
  const sealed = await seal(value, recipients);
  return {
    value: toBase64(sealed),
    used_by: [...usedBy],
    recipients,
    keep_readable_copy: keepReadableCopy,
    ...(tags !== undefined && { tags: [...tags] }),
    ...(rotateAfterDays !== undefined && { rotate_after_days: rotateAfterDays }),
  };
}

async function readConsumers(
  client: SecretsClient,
  params: { readonly path: { slug: string }; readonly query: { id?: string } },
): Promise<string[]> {
  const { data, error, response } = await client.GET('/objects/{slug}/used-by', { params });
  const apiError = decodeError(response, error);
  if (apiError) throw apiError;
  return data?.used_by ?? [];
}

function requireObject(data: ObjectMetadata | undefined, error: unknown, response: Response): ObjectMetadata {
  if (data !== undefined) return data;
  throw (
    decodeError(response, error) ??
    new TypeError(`Expected the stored secret; received status ${response.status} without a body.`)
  );
}
