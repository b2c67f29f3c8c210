import type { ApiToken } from '../../accounts/api-tokens.js';
import type { TokensHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import type { DashboardServices } from './handlers.js';

export const tokensHandlers = ({ accounts: { tokens } }: Pick<DashboardServices, 'accounts'>): TokensHandlers => ({
  async listTokens({ caller }) {
    const own = await tokens.list(caller);
    return { status: 200, body: own.map(toBody) };
  },

  async createToken({ caller, address, body: { label, expiresAt, scopes } }) {
    const created = await tokens.create(caller, { label, scopes, expiresAt: new Date(expiresAt) }, address);
    return { status: 201, body: { ...toBody(created), token: created.token } };
  },

  async revokeToken({ caller, address, params }) {
    await tokens.revoke(caller, params.id, address);
    return { status: 204 };
  },
});

function toBody({ id, label, scopes, createdAt, expiresAt, lastUsedAt }: ApiToken): components['schemas']['APIToken'] {
  return {
    id,
    label,
    scopes: [...scopes],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ...(lastUsedAt && { lastUsedAt: lastUsedAt.toISOString() }),
  };
}
