import type { TokenAccess } from '../../accounts/callers.js';
import type {
  ConsumersHandlers,
  ListConsumersInput,
  ConsumerTokensHandlers,
  TokensHandlers,
  WorkloadIdentityHandlers,
} from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { Consumer } from '../../secrets/consumers.js';
import type { TokenMetadata, TokenStatus } from '../../secrets/service-tokens.js';
import type { WorkloadRule } from '../../secrets/workload/rules.js';
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

type WorkloadServices = Pick<SecretsServices, 'workloadRules' | 'workloadTokens'>;

export const workloadIdentityHandlers = ({
  workloadRules: rules,
  workloadTokens: tokens,
}: WorkloadServices): WorkloadIdentityHandlers => ({
  async exchangeToken(input) {
    const { subject_token: subjectToken, rule } = input.body;
    const issued = await tokens.exchange(toRequestOrigin(input), { subjectToken, rule });
    return {
      status: 200,
      body: {
        access_token: issued.token,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: issued.expiresIn,
        rule: issued.rule,
      },
    };
  },

  async listWorkloadRules({ caller }) {
    const all = await rules.list(caller);
    return { status: 200, body: all.map(toRuleBody), headers: { 'X-Total-Count': String(all.length) } };
  },

  async putWorkloadRule(input) {
    const { access, ttl_seconds: ttlSeconds, single_use: singleUse, ...body } = input.body;
    const { name_prefix: namePrefix, ...limits } = access ?? {};
    const rule = {
      ...body,
      name: input.params.name,
      access: access && { ...limits, namePrefix },
      ttlSeconds,
      singleUse,
    };
    return { status: 200, body: toRuleBody(await rules.put(toRequestOrigin(input), rule)) };
  },

  async deleteWorkloadRule(input) {
    await rules.remove(toRequestOrigin(input), input.params.name);
    return { status: 204 };
  },
});

function toRuleBody(rule: WorkloadRule): components['schemas']['WorkloadRule'] {
  const { name, issuer, audience, claims, consumer, access, ttlSeconds, singleUse, createdAt, lastUsedAt } = rule;
  return {
    ...{ name, issuer, audience, ttl_seconds: ttlSeconds, single_use: singleUse },
    claims: claims.map(({ name: claim, patterns }) => ({ name: claim, patterns: [...patterns] })),
    created_at: createdAt.toISOString(),
    ...(consumer !== undefined && { consumer }),
    ...(access && { access: toAccessBody(access) }),
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
  };
}
