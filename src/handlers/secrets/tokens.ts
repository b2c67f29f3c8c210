import type { TokenAccess } from '../../accounts/callers.js';
import type { ConsumerTokensHandlers, TokensHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { TokenMetadata, TokenStatus } from '../../secrets/service-tokens.js';
import { pageHeaders } from '../paging.js';
import { toRequestOrigin } from './objects.js';
import type { SecretsServices } from './services.js';

type TokensServices = Pick<SecretsServices, 'basePath' | 'writeTokens'>;

export const tokensHandlers = ({ writeTokens: tokens, basePath }: TokensServices): TokensHandlers => ({
  async listTokens(input) {
    const page = await tokens.list(toRequestOrigin(input), input.query);
    const next = page.next === undefined ? undefined : { ...input.query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/tokens`, next });
    return { status: 200, body: page.tokens.map(toTokenBody), headers };
  },

  async createToken(input) {
    const { ttl_seconds: ttlSeconds, access, description } = input.body;
    const { name_prefix: namePrefix, ...restrictions } = access ?? {};
    const token = { description, ttlSeconds, access: access && { ...restrictions, namePrefix } };
    const created = await tokens.create(toRequestOrigin(input), token);
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

type ConsumerTokensServices = Pick<SecretsServices, 'basePath' | 'consumerTokens'>;

export const consumerTokensHandlers = ({
  consumerTokens: tokens,
  basePath,
}: ConsumerTokensServices): ConsumerTokensHandlers => ({
  async listConsumerTokens(input) {
    const page = await tokens.list(toRequestOrigin(input), input.query);
    const next = page.next === undefined ? undefined : { ...input.query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/consumer-tokens`, next });
    return { status: 200, body: page.tokens.map(toConsumerTokenBody), headers };
  },

  async createConsumerToken(input) {
    const { ttl_seconds: ttlSeconds, addresses, ...named } = input.body;
    const token = { ...named, ttlSeconds, access: addresses && { addresses } };
    const created = await tokens.create(toRequestOrigin(input), token);
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

type Schemas = components['schemas'];

/** Returns the fields that both kinds of tokens share. */
function toCommon({ id, description, createdAt, expiresAt, lastUsedAt, status, rule }: TokenMetadata) {
  return {
    id,
    description,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    revoked: status === 'revoked',
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
    status,
    allowed_actions: toActions(status).filter((action) => rule === undefined || action !== 'rotate'),
    ...(rule !== undefined && { rule }),
  };
}

function toActions(status: TokenStatus): Schemas['TokenAction'][] {
  return status === 'active' ? ['rotate', 'revoke'] : ['purge'];
}

function toTokenBody(token: TokenMetadata): Schemas['TokenMetadata'] {
  return {
    ...toCommon(token),
    ...(token.issuedBy !== undefined && { owner: token.issuedBy }),
    ...(token.access && { access: toAccessBody(token.access) }),
  };
}

export function toAccessBody({
  permissions,
  namePrefix,
  tags,
  consumers,
  addresses,
}: TokenAccess): Schemas['TokenAccess'] {
  return {
    ...(permissions && { permissions: [...permissions] }),
    ...(namePrefix !== undefined && { name_prefix: namePrefix }),
    ...(tags && { tags: [...tags] }),
    ...(consumers && { consumers: [...consumers] }),
    ...(addresses && { addresses: [...addresses] }),
  };
}

function toConsumerTokenBody(token: TokenMetadata): Schemas['ConsumerTokenMetadata'] {
  // Every consumer token has a consumer.
  const { consumer = '', access } = token;
  return { ...toCommon(token), consumer, ...(access?.addresses && { addresses: [...access.addresses] }) };
}
