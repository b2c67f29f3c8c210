import type { AuthHandlers, CredentialsHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { OwnerPasskey } from '../../secrets/access.js';
import type { OwnerIdentity } from '../../secrets/owner.js';
import { pageHeaders } from '../paging.js';
import { toRequestOrigin } from './objects.js';
import type { SecretsServices } from './services.js';

type AuthServices = Pick<SecretsServices, 'accounts' | 'owner' | 'ownerAccess'>;

export const authHandlers = ({ accounts: { sessions, cookies }, owner, ownerAccess }: AuthServices): AuthHandlers => ({
  async beginRegistration(input) {
    const { setup_token: setupToken, username, display_name: displayName } = input.body ?? {};
    const start = { setupToken, username, displayName };
    return { status: 200, body: { publicKey: await ownerAccess.beginRegistration(toRequestOrigin(input), start) } };
  },

  async finishRegistration(input) {
    const { credential, username, nickname: label, public_key: publicKey, ...wrapped } = input.body;
    const { passkey, sessionId } = await ownerAccess.finishRegistration(toRequestOrigin(input), {
      credential,
      username,
      label,
      publicKey,
      wrappedIdentity: wrapped.wrapped_identity,
      recoveryWrappedIdentity: wrapped.recovery_wrapped_identity,
      userAgent: input.headers['user-agent'],
    });
    const headers = sessionId === undefined ? {} : { 'Set-Cookie': cookies.set(sessionId) };
    return { status: 201, body: toCredentialBody(passkey), headers };
  },

  beginLogin: async () => ({ status: 200, body: { publicKey: await ownerAccess.beginSignIn() } }),

  async finishLogin({ body: { credential }, headers, address }) {
    const sessionId = await ownerAccess.finishSignIn({ credential, userAgent: headers['user-agent'] }, address);
    return { status: 204, headers: { 'Set-Cookie': cookies.set(sessionId) } };
  },

  async logout({ caller, address }) {
    await sessions.signOut(caller, address);
    return { status: 204, headers: { 'Set-Cookie': cookies.clear() } };
  },

  getAuthStatus: async () => ({ status: 200, body: { bootstrapped: await owner.exists() } }),

  getIdentity: async ({ caller }) => ({ status: 200, body: toIdentityBody(await owner.readIdentity(caller)) }),

  async keepIdentity(input) {
    const { public_key: publicKey, credential_id: credentialId, ...wrapped } = input.body;
    const identity = await owner.saveIdentity(toRequestOrigin(input), {
      publicKey,
      credentialId,
      wrappedIdentity: wrapped.wrapped_identity,
      recoveryWrappedIdentity: wrapped.recovery_wrapped_identity,
    });
    return { status: 200, body: toIdentityBody(identity) };
  },
});

function toIdentityBody(identity: OwnerIdentity): components['schemas']['OwnerIdentity'] {
  const { publicKey, recoveryWrappedIdentity: recovery, wrappedBy } = identity;
  return {
    ...(publicKey !== undefined && { public_key: publicKey }),
    ...(recovery !== undefined && { recovery_wrapped_identity: recovery }),
    ...(wrappedBy.length > 0 && { wrapped_by: [...wrappedBy] }),
  };
}

type CredentialsServices = Pick<SecretsServices, 'basePath' | 'ownerPasskeys'>;

export const credentialsHandlers = ({
  ownerPasskeys: passkeys,
  basePath,
}: CredentialsServices): CredentialsHandlers => ({
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

function toCredentialBody(passkey: OwnerPasskey): components['schemas']['Credential'] {
  const { id, label, createdAt, lastUsedAt, wrappedIdentity } = passkey;
  return {
    id,
    nickname: label,
    created_at: createdAt.toISOString(),
    ...(lastUsedAt && { last_used_at: lastUsedAt.toISOString() }),
    ...(wrappedIdentity !== undefined && { wrapped_identity: wrappedIdentity }),
  };
}
