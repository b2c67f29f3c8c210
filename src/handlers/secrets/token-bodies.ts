import type { components } from '../../generated/secrets/types.js';
import type { TokenMetadata, TokenStatus } from '../../secrets/service-tokens.js';

type Schemas = components['schemas'];

/** Returns the fields that both kinds of tokens share. */
function toCommon({ id, description, createdAt, expiresAt, lastUsedAt, status }: TokenMetadata) {
  return {
    id,
    description,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    revoked: status === 'revoked',
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
    status,
    allowed_actions: toActions(status),
  };
}

function toActions(status: TokenStatus): Schemas['TokenAction'][] {
  return status === 'active' ? ['rotate', 'revoke'] : ['purge'];
}

export function toTokenBody(token: TokenMetadata): Schemas['TokenMetadata'] {
  return { ...toCommon(token), ...(token.issuedBy !== undefined && { owner: token.issuedBy }) };
}

export function toConsumerTokenBody(token: TokenMetadata): Schemas['ConsumerTokenMetadata'] {
  // Every consumer token has a consumer.
  return { ...toCommon(token), consumer: token.consumer ?? '' };
}
