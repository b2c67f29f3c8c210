import type { ConsumerTokensHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';
import { toRequestOrigin } from './request-origin.js';
import { toConsumerTokenBody } from './token-bodies.js';

type Services = Pick<SecretsServices, 'basePath' | 'consumerTokens'>;

export const consumerTokensHandlers = ({ consumerTokens: tokens, basePath }: Services): ConsumerTokensHandlers => ({
  async listConsumerTokens(input) {
    const page = await tokens.list(toRequestOrigin(input), input.query);
    const next = page.next === undefined ? undefined : { ...input.query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/consumer-tokens`, next });
    return { status: 200, body: page.tokens.map(toConsumerTokenBody), headers };
  },

  async createConsumerToken(input) {
    const { ttl_seconds: ttlSeconds, ...named } = input.body;
    const created = await tokens.create(toRequestOrigin(input), { ...named, ttlSeconds });
    return { status: 201, body: { ...toConsumerTokenBody(created), value: created.token } };
  },

  async rotateConsumerToken(input) {
    const rotated = await tokens.rotate(toRequestOrigin(input), input.params.id, input.body?.ttl_seconds);
    return { status: 200, body: { ...toConsumerTokenBody(rotated), value: rotated.token } };
  },

  async revokeConsumerToken(input) {
    await tokens.revoke(toRequestOrigin(input), input.params.id);
    return { status: 204 };
  },

  async purgeConsumerToken(input) {
    await tokens.purge(toRequestOrigin(input), input.params.id);
    return { status: 204 };
  },
});
