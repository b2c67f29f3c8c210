import type { components } from '../../generated/secrets/types.js';
import type { ResealReason } from '../../secrets/secret-records.js';
import type { SecretVersion } from '../../secrets/versions.js';
import type { SecretValueInput } from '../../secrets/secret-store.js';
import type { SecretMetadata } from '../../secrets/secret-records.js';

type Schemas = components['schemas'];

export function toSecretValueInput(body: Omit<Schemas['UpdateObjectRequest'], 'keep_readable_copy'>): SecretValueInput {
  const { value, used_by: usedBy, tags, rotate_after_days: rotateAfterDays, recipients } = body;
  return { value, usedBy, tags, rotateAfterDays, recipients };
}

/** Fields of the request that the response repeats; they are not stored. */
interface Echoed {
  readonly keepsReadableCopy?: boolean;
}

/** Returns the metadata of one secret, without the fields that only lists contain. */
export function toMetadataBody(
  object: SecretMetadata,
  { keepsReadableCopy = false }: Echoed = {},
): Schemas['ObjectMetadata'] {
  const { id, slug, etag, tags, usedBy, description, rotation, recipientCount, recipients } = object;
  return {
    id,
    slug,
    etag,
    tags: [...tags],
    ...(usedBy.length > 0 && { used_by: [...usedBy] }),
    ...(description !== undefined && { description }),
    ...(keepsReadableCopy && { keep_readable_copy: true }),
    ...(rotation && { rotate_after_days: rotation.afterDays }),
    recipient_count: recipientCount,
    ...(recipients.length > 0 && { recipients: [...recipients] }),
  };
}

/** Returns the metadata of a secret in a list. */
export function toListEntryBody(object: SecretMetadata): Schemas['ObjectMetadata'] {
  const { createdAt, updatedAt, createdBy, updatedBy, rotation, reseal } = object;
  return {
    ...toMetadataBody(object),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    created_by: createdBy,
    updated_by: updatedBy,
    ...(rotation && { rotation_due_at: rotation.dueAt.toISOString(), rotation_due: rotation.isDue }),
    ...(reseal && { reseal: toResealBody(reseal) }),
  };
}

function toResealBody({ reason, missing, stale }: ResealReason): Schemas['Reseal'] {
  return {
    reason,
    ...(missing.length > 0 && { missing: [...missing] }),
    ...(stale.length > 0 && { stale: [...stale] }),
  };
}

export function toVersionBody(version: SecretVersion): Schemas['ObjectVersion'] {
  const { createdAt, createdBy, replacedAt, replacedBy, recipientCount, recipients } = version;
  return {
    version: version.version,
    created_at: createdAt.toISOString(),
    created_by: createdBy,
    replaced_at: replacedAt.toISOString(),
    replaced_by: replacedBy,
    recipient_count: recipientCount,
    ...(recipients.length > 0 && { recipients: [...recipients] }),
  };
}
