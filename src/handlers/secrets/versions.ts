import type { VersionsHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { toMetadataBody, toVersionBody } from './secret-bodies.js';
import { toRequestOrigin } from './request-origin.js';

export const versionsHandlers = ({ versions }: Pick<SecretsServices, 'versions'>): VersionsHandlers => ({
  async listObjectVersions({ caller, params, query }) {
    const list = await versions.list(caller, { ...params, ...query });
    return { status: 200, body: list.map(toVersionBody), headers: { 'X-Total-Count': String(list.length) } };
  },

  async getObjectVersion(input) {
    const { id, sealed } = await versions.read({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 200, body: sealed, headers: { 'X-Object-Id': id } };
  },

  async restoreObjectVersion(input) {
    const object = await versions.restore({ ...input.params, ...input.query }, toRequestOrigin(input));
    return { status: 200, body: toMetadataBody(object) };
  },
});
