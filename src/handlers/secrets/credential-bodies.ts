import type { components } from '../../generated/secrets/types.js';
import type { OwnerPasskey } from '../../secrets/access.js';

export function toCredentialBody(passkey: OwnerPasskey): components['schemas']['Credential'] {
  const { id, label, createdAt, lastUsedAt, wrappedIdentity } = passkey;
  return {
    id,
    nickname: label,
    created_at: createdAt.toISOString(),
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
    ...(wrappedIdentity !== undefined && { wrapped_identity: wrappedIdentity }),
  };
}
