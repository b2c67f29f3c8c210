import type { ConsumersHandlers, ListConsumersInput } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { Consumer } from '../../secrets/consumers.js';
import { pageHeaders } from '../paging.js';
import { toRequestOrigin } from './objects.js';
import type { SecretsServices } from './services.js';

type Services = Pick<SecretsServices, 'basePath' | 'consumers'>;

export const consumersHandlers = ({ consumers, basePath }: Services): ConsumersHandlers => ({
  async listConsumers({ caller, query }) {
    const path = `${basePath}/consumers`;
    if (isPlain(query)) {
      const names = await consumers.listNames(caller);
      return { status: 200, body: names, headers: pageHeaders({ total: names.length, path, next: undefined }) };
    }
    const { q: text, page: number, page_size: pageSize } = query;
    const page = await consumers.list(caller, { text, page: number, pageSize });
    const next = page.next === undefined ? undefined : { ...query, page: page.next };
    const body = { consumers: page.consumers.map(toBody), total: page.total };
    return { status: 200, body, headers: pageHeaders({ total: page.total, path, next }) };
  },

  async addConsumer(input) {
    const { name, public_key: publicKey } = input.body;
    return { status: 201, body: toBody(await consumers.add(toRequestOrigin(input), { name, publicKey })) };
  },

  async updateConsumer(input) {
    const { name, public_key: publicKey } = input.body;
    const updated = await consumers.update(toRequestOrigin(input), input.params.name, { name, publicKey });
    return { status: 200, body: toBody(updated) };
  },

  async deleteConsumer(input) {
    await consumers.remove(toRequestOrigin(input), input.params.name);
    return { status: 204 };
  },
});

/** Without parameters, the response is a plain list of names; an empty `?q=` counts as absent. */
function isPlain({ q, page, page_size }: ListConsumersInput['query']): boolean {
  return (q ?? '') === '' && page === undefined && page_size === undefined;
}

function toBody({ name, secretCount, publicKey }: Consumer): components['schemas']['ConsumerEntry'] {
  return { name, secret_count: secretCount, ...(publicKey !== undefined && { public_key: publicKey }) };
}
