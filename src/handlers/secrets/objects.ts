import type { ObjectsHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';
import { toListBody, toMetadataBody, toObjectValue } from './object-bodies.js';
import { toOrigin } from './origin.js';

type Services = Pick<SecretsServices, 'basePath' | 'objects'>;

export const objectsHandlers = ({ objects, basePath }: Services): ObjectsHandlers => ({
  async listObjects({ caller, query }) {
    const { used_by: usedBy, tag: tags, rotation_due: isDue, reseal: needsReseal, ...rest } = query;
    const page = await objects.list(caller, { ...rest, usedBy, tags, isDue, needsReseal });
    const next = page.next === undefined ? undefined : { ...query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/objects`, next });
    return { status: 200, body: page.objects.map(toListBody), headers };
  },

  async createObject(input) {
    const { slug, description, keep_readable_copy: keepsReadableCopy, ...value } = input.body;
    const object = await objects.create({ slug, description, ...toObjectValue(value) }, toOrigin(input));
    return { status: 201, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async getObject(input) {
    const { id, sealed, etag } = await objects.read({ ...input.params, ...input.query }, toOrigin(input));
    return { status: 200, body: sealed, headers: { 'X-Object-Id': id, ETag: etag } };
  },

  async updateObject(input) {
    const { keep_readable_copy: keepsReadableCopy, ...value } = input.body;
    const ref = { ...input.params, ...input.query };
    const change = { ...toObjectValue(value), ifMatch: input.headers['if-match'] };
    const object = await objects.update(ref, change, toOrigin(input));
    return { status: 200, body: toMetadataBody(object, { keepsReadableCopy }) };
  },

  async renameObject(input) {
    const object = await objects.rename({ ...input.params, ...input.query }, input.body.slug, toOrigin(input));
    return { status: 200, body: toMetadataBody(object) };
  },

  async deleteObject(input) {
    await objects.remove({ ...input.params, ...input.query }, toOrigin(input));
    return { status: 204 };
  },

  async getObjectUsedBy({ caller, params, query }) {
    return { status: 200, body: { used_by: await objects.listUsedBy(caller, { ...params, ...query }) } };
  },
});
