import type { ObjectsHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';
import { toListEntryBody, toMetadataBody, toSecretValueInput } from './secret-bodies.js';
import { toRequestOrigin } from './request-origin.js';

type Services = Pick<SecretsServices, 'basePath' | 'secrets'>;

export const objectsHandlers = ({ secrets, basePath }: Services): ObjectsHandlers => ({
  async listObjects({ caller, query }) {
    const { used_by: usedBy, tag: tags, rotation_due: isDue, reseal: needsReseal, ...rest } = query;
    const page = await secrets.list(caller, { ...rest, usedBy, tags, isDue, needsReseal });
    const next = page.next === undefined ? undefined : { ...query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/objects`, next });
    return { status: 200, body: page.secrets.map(toListEntryBody), headers };
  },

  async createObject(input) {
    const { slug, description, keep_readable_copy: keepsReadableCopy, ...value } = input.body;
    const object = await secrets.create({ slug, description, ...toSecretValueInput(value) }, toRequestOrigin(input));
    return { status: 201, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async getObject(input) {
    const { id, sealed, etag } = await secrets.read({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 200, body: sealed, headers: { 'X-Object-Id': id, ETag: etag } };
  },

  async updateObject(input) {
    const { keep_readable_copy: keepsReadableCopy, ...value } = input.body;
    const ref = { ...input.params, ...input.query };
    const change = { ...toSecretValueInput(value), ifMatch: input.headers['if-match'] };
    const object = await secrets.update(ref, change, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async renameObject(input) {
    const object = await secrets.rename({ ...input.params, ...input.query }, input.body.slug, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object) };
  },

  async deleteObject(input) {
    await secrets.remove({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 204 };
  },

  async getObjectUsedBy({ caller, params, query }) {
    return { status: 200, body: { used_by: await secrets.listUsedBy(caller, { ...params, ...query }) } };
  },
});
