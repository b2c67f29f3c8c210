import type { Passkey } from '../../accounts/passkeys.js';
import type { CredentialsHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import type { DashboardServices } from './handlers.js';

export const credentialsHandlers = ({ accounts }: Pick<DashboardServices, 'accounts'>): CredentialsHandlers => ({
  async listCredentials({ caller }) {
    const own = await accounts.passkeys.list(caller);
    return { status: 200, body: own.map(toBody) };
  },

  beginCredential: async ({ caller }) => ({ status: 200, body: await accounts.passkeys.begin(caller) }),

  async finishCredential({ caller, query, body, address }) {
    const added = await accounts.passkeys.finish(caller, { label: query.label, credential: body }, address);
    return { status: 201, body: toBody(added) };
  },

  async renameCredential({ caller, params, body, address }) {
    const renamed = await accounts.passkeys.rename(caller, { id: params.id, label: body.label }, address);
    return { status: 200, body: toBody(renamed) };
  },

  async deleteCredential({ caller, params, address }) {
    await accounts.passkeys.remove(caller, params.id, address);
    return { status: 204 };
  },
});

function toBody({ id, label, createdAt, lastUsedAt }: Passkey): components['schemas']['Credential'] {
  const used = lastUsedAt === undefined ? {} : { lastUsedAt: lastUsedAt.toISOString() };
  return { id, label, createdAt: createdAt.toISOString(), ...used };
}
