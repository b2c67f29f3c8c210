import type { ObjectsHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { SecretObject } from '../../secrets/objects.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';

export const objectsHandlers = ({
  objects,
  basePath,
}: Pick<SecretsServices, 'basePath' | 'objects'>): ObjectsHandlers => ({
  async listObjects({ caller, query }) {
    const { used_by: usedBy, tag: tags, limit, offset } = query;
    const page = await objects.list(caller, { usedBy, tags, limit, offset });
    const next = page.next === undefined ? undefined : { ...query, offset: page.next };
    return {
      status: 200,
      body: page.objects.map(toBody),
      headers: pageHeaders({ total: page.total, path: `${basePath}/objects`, next }),
    };
  },
  async createObject() {
    throw new Error('createObject is not written yet.');
  },
  async deleteObject() {
    throw new Error('deleteObject is not written yet.');
  },
  async getObject() {
    throw new Error('getObject is not written yet.');
  },
  async renameObject() {
    throw new Error('renameObject is not written yet.');
  },
  async updateObject() {
    throw new Error('updateObject is not written yet.');
  },
  async getObjectUsedBy() {
    throw new Error('getObjectUsedBy is not written yet.');
  },
});

function toBody(object: SecretObject): components['schemas']['ObjectMetadata'] {
  const { id, slug, tags, usedBy, description, createdAt, updatedAt, createdBy, updatedBy } = object;
  return {
    id,
    slug,
    tags: [...tags],
    ...(usedBy.length > 0 && { used_by: [...usedBy] }),
    ...(description !== undefined && { description }),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    created_by: createdBy,
    updated_by: updatedBy,
  };
}
