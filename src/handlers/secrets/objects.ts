import type { Caller } from '../../accounts/callers.js';
import type { ObjectsHandlers, VersionsHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { RequestOrigin } from '../../secrets/audit/chain.js';
import type { ResealReason, SecretMetadata } from '../../secrets/secret-records.js';
import type { SecretValueInput } from '../../secrets/secret-store.js';
import type { SecretVersion } from '../../secrets/versions.js';
import { pageHeaders } from '../paging.js';
import type { SecretsServices } from './services.js';

type Services = Pick<SecretsServices, 'basePath' | 'secrets'>;

export const objectsHandlers = ({ secrets, basePath }: Services): ObjectsHandlers => ({
  async listObjects({ caller, query }) {
    const { used_by: usedBy, tag: tags, rotation_due: isDue, reseal: needsReseal, signatures, ...rest } = query;
    const page = await secrets.list(caller, { ...rest, usedBy, tags, isDue, needsReseal });
    const next = page.next === undefined ? undefined : { ...query, offset: undefined, cursor: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/objects`, next });
    return { status: 200, body: page.secrets.map((secret) => toListEntryBody(secret, signatures === true)), headers };
  },

  async createObject(input) {
    const { slug, description, keep_readable_copy: keepsReadableCopy, ...value } = input.body;
    const object = await secrets.create({ slug, description, ...toSecretValueInput(value) }, toRequestOrigin(input));
    return { status: 201, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async getObject(input) {
    const { id, sealed, signature, etag } = await secrets.read(
      { ...input.params, ...input.query },
      toRequestOrigin(input),
    );
    return { status: 200, body: sealed, headers: { 'X-Object-Id': id, ETag: etag, ...toSignatureHeader(signature) } };
  },

  async updateObject(input) {
    const { keep_readable_copy: keepsReadableCopy, description, ...value } = input.body;
    const ref = { ...input.params, ...input.query };
    const change = { ...toSecretValueInput(value), description, ifMatch: input.headers['if-match'] };
    const object = await secrets.update(ref, change, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async renameObject(input) {
    const { slug, used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, signature } = input.body;
    const patch = { slug, usedBy, tags, description, rotateAfterDays, signature, ifMatch: input.headers['if-match'] };
    const object = await secrets.patch({ ...input.params, ...input.query }, patch, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object) };
  },

  async deleteObject(input) {
    const ref = { ...input.params, ...input.query, ifMatch: input.headers['if-match'] };
    await secrets.remove(ref, toRequestOrigin(input));
    return { status: 204 };
  },

  async getObjectUsedBy({ caller, params, query }) {
    return { status: 200, body: { used_by: await secrets.listUsedBy(caller, { ...params, ...query }) } };
  },
});

export const versionsHandlers = ({ versions }: Pick<SecretsServices, 'versions'>): VersionsHandlers => ({
  async listObjectVersions({ caller, params, query }) {
    const list = await versions.list(caller, { ...params, ...query });
    return { status: 200, body: list.map(toVersionBody), headers: { 'X-Total-Count': String(list.length) } };
  },

  async getObjectVersion(input) {
    const { id, sealed, signature } = await versions.read({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 200, body: sealed, headers: { 'X-Object-Id': id, ...toSignatureHeader(signature) } };
  },

  async deleteObjectVersions(input) {
    await versions.destroy({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 204 };
  },

  async restoreObjectVersion(input) {
    const ref = { ...input.params, ...input.query, signature: input.body?.signature };
    const object = await versions.restore(ref, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object) };
  },
});

type Schemas = components['schemas'];

function toSecretValueInput(
  body: Omit<Schemas['UpdateObjectRequest'], 'description' | 'keep_readable_copy'>,
): SecretValueInput {
  const { value, used_by: usedBy, tags, rotate_after_days: rotateAfterDays, recipients, signature } = body;
  return { value, usedBy, tags, rotateAfterDays, recipients, signature };
}

/** A header has no line breaks, so the signature is in base64. */
const toSignatureHeader = (signature: string | undefined) =>
  signature === undefined ? {} : { 'X-Object-Signature': Buffer.from(signature).toString('base64') };

/** Fields of the request that the response repeats; they are not stored. */
interface Echoed {
  readonly keepsReadableCopy?: boolean;
}

/** Returns the metadata of one secret, without the fields that only lists contain. */
function toMetadataBody(object: SecretMetadata, { keepsReadableCopy = false }: Echoed = {}): Schemas['ObjectMetadata'] {
  const { id, slug, etag, version, tags, usedBy, description, rotation, recipientCount, recipients } = object;
  return {
    id,
    slug,
    etag,
    version,
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
function toListEntryBody(object: SecretMetadata, hasSignature: boolean): Schemas['ObjectMetadata'] {
  const { createdAt, updatedAt, createdBy, updatedBy, rotation, reseal, signature } = object;
  return {
    ...toMetadataBody(object),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    created_by: createdBy,
    updated_by: updatedBy,
    ...(rotation && { rotation_due_at: rotation.dueAt.toISOString(), rotation_due: rotation.isDue }),
    ...(reseal && { reseal: toResealBody(reseal) }),
    ...(hasSignature && signature !== undefined && { signature }),
  };
}

function toResealBody({ reason, missing, stale }: ResealReason): Schemas['Reseal'] {
  return {
    reason,
    ...(missing.length > 0 && { missing: [...missing] }),
    ...(stale.length > 0 && { stale: [...stale] }),
  };
}

function toVersionBody(version: SecretVersion): Schemas['ObjectVersion'] {
  const { createdAt, createdBy, replacedAt, replacedBy, recipientCount, recipients, signature } = version;
  return {
    version: version.version,
    created_at: createdAt.toISOString(),
    created_by: createdBy,
    replaced_at: replacedAt.toISOString(),
    replaced_by: replacedBy,
    recipient_count: recipientCount,
    ...(recipients.length > 0 && { recipients: [...recipients] }),
    ...(signature !== undefined && { signature }),
  };
}

interface Input {
  readonly caller: Caller | undefined;
  readonly address: string;
  /** Absent for operations that are not audited. */
  readonly headers?: { readonly 'x-caller'?: string };
}

/** Returns the origin of a request, as recorded in the audit log. */
export function toRequestOrigin({ caller, address, headers }: Input): RequestOrigin {
  return { caller, callerName: headers?.['x-caller'], ip: address, at: Date.now() };
}
