import { toBase64 } from './base64.js';
import { decodeError } from '../client/errors.js';
import type { SecretsClient, components } from '../generated/secrets/client.js';
import { findRecipients } from './find-recipients.js';
import type { Readers } from './find-recipients.js';
import { seal } from './seal.js';

type ObjectMetadata = components['schemas']['ObjectMetadata'];

/** What is sealed, and to whom. */
export interface SecretValue extends Readers {
  readonly slug: string;
  /** Bytes, or text that becomes UTF-8. */
  readonly value: Uint8Array | string;
  /** Left out of a replacement, they stay. */
  readonly tags?: readonly string[] | undefined;
  /** After how many days it is due for rotation; null for never. Left out of a replacement, it stays. */
  readonly rotateAfterDays?: number | null | undefined;
}

export interface NewSecret extends SecretValue {
  readonly description?: string | undefined;
}

export interface SecretReplacement extends SecretValue {
  /** Which variant of the name, where there are several. */
  readonly id?: string | undefined;
  /** The `etag` of the value that this one is to replace; whatever is there by then when left out. */
  readonly etag?: string | undefined;
}

/**
 * Seals a value to the public keys of its consumers, to the owner's when a
 * readable copy is asked for, and to further recipients; then stores it as a
 * new object, with these keys recorded.
 *
 * @throws SealingError `no_key` for a consumer without a public key, `too_large`, `invalid_key`;
 * ApiError when the service refuses. Nothing is stored then.
 */
export async function putSecret(client: SecretsClient, secret: NewSecret): Promise<ObjectMetadata> {
  const { slug, description } = secret;
  const sealed = await sealFor(client, secret);
  const body = { slug, ...sealed, ...(description !== undefined && { description }) };
  const { data, error, response } = await client.POST('/objects', { body });
  return requireObject(data, error, response);
}

/**
 * The same with the value of an object that is there; the one before is kept
 * as a version. Without `usedBy` the object's consumers stay, and it is
 * sealed to the keys that they have now.
 *
 * @throws The same; ApiError 412 `precondition_failed` when the value is not the one of `etag` any more.
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
  const recipients = await findRecipients(client, secret);
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
  const refusal = decodeError(response, error);
  if (refusal) throw refusal;
  return data?.used_by ?? [];
}

function requireObject(data: ObjectMetadata | undefined, error: unknown, response: Response): ObjectMetadata {
  if (data !== undefined) return data;
  throw decodeError(response, error) ?? new TypeError(`Expected an object; received status ${response.status}.`);
}
