import type { TokensHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';
import { toRequestOrigin } from './request-origin.js';
import { toTokenBody } from './token-bodies.js';

type Services = Pick<SecretsServices, 'basePath' | 'writeTokens'>;

export const tokensHandlers = ({ writeTokens: tokens, basePath }: Services): TokensHandlers => ({
  async listTokens(input) {
    const page = await tokens.list(toRequestOrigin(input), input.query);
    const next = page.next === undefined ? undefined : { ...input.query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/tokens`, next });
    return { status: 200, body: page.tokens.map(toTokenBody), headers };
  },

  async createToken(input) {
    const { ttl_seconds: ttlSeconds, ...named } = input.body;
    const created = await tokens.create(toRequestOrigin(input), { ...named, ttlSeconds });
    return { status: 201, body: { ...toTokenBody(created), value: created.token } };
  },

  async rotateToken(input) {
    const rotated = await tokens.rotate(toRequestOrigin(input), input.params.id, input.body?.ttl_seconds);
    return { status: 200, body: { ...toTokenBody(rotated), value: rotated.token } };
  },

  async revokeToken(input) {
    await tokens.revoke(toRequestOrigin(input), input.params.id);
    return { status: 204 };
  },

  async purgeToken(input) {
    await tokens.purge(toRequestOrigin(input), input.params.id);
    return { status: 204 };
  },
});
