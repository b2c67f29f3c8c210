import type { CredentialsHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { pageHeaders } from '../paging.js';
import { toCredentialBody } from './credential-bodies.js';
import { toRequestOrigin } from './request-origin.js';

type Services = Pick<SecretsServices, 'basePath' | 'ownerPasskeys'>;

export const credentialsHandlers = ({ ownerPasskeys: passkeys, basePath }: Services): CredentialsHandlers => ({
  async listCredentials(input) {
    const page = await passkeys.list(toRequestOrigin(input), input.query);
    const next = page.next === undefined ? undefined : { ...input.query, offset: page.next };
    const headers = pageHeaders({ total: page.total, path: `${basePath}/credentials`, next });
    return { status: 200, body: page.passkeys.map(toCredentialBody), headers };
  },

  async renameCredential(input) {
    const passkey = { id: input.params.id, label: input.body.nickname };
    return { status: 200, body: toCredentialBody(await passkeys.rename(toRequestOrigin(input), passkey)) };
  },

  async deleteCredential(input) {
    await passkeys.remove(toRequestOrigin(input), input.params.id);
    return { status: 204 };
  },
});
