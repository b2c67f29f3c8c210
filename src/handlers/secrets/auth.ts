import type { TokenAccess } from '../../accounts/callers.js';
import type { AuthHandlers, CredentialsHandlers, DeviceLoginHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { OwnerPasskey } from '../../secrets/access.js';
import type { DeviceLoginError } from '../../secrets/device-logins.js';
import type { OwnerIdentity } from '../../secrets/owner.js';
import { pageHeaders } from '../paging.js';
import { toAccessBody } from './consumers.js';
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

  async finishLogin({ body: { credential }, headers, caller: before, address }) {
    const answer = { credential, userAgent: headers['user-agent'], before };
    const sessionId = await ownerAccess.finishSignIn(answer, address);
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

type DeviceLoginServices = Pick<SecretsServices, 'deviceLogins' | 'ownTokens'>;

export const deviceLoginHandlers = ({ deviceLogins, ownTokens }: DeviceLoginServices): DeviceLoginHandlers => ({
  async beginDeviceLogin(input) {
    const { client_id: clientId, scope, device_name: deviceName } = input.body;
    const codes = await deviceLogins.begin(toRequestOrigin(input), { clientId, scope, deviceName });
    if ('error' in codes) return toRefusal(codes, input);
    const { deviceCode, userCode, verificationUri, expiresIn, interval } = codes;
    const named = { device_code: deviceCode, user_code: userCode, verification_uri: verificationUri };
    return { status: 200, body: { ...named, expires_in: expiresIn, interval } };
  },

  async pollDeviceLogin(input) {
    const { grant_type: grantType, device_code: deviceCode, client_id: clientId } = input.body;
    const issued = await deviceLogins.poll(toRequestOrigin(input), { grantType, deviceCode, clientId });
    if ('error' in issued) return toRefusal(issued, input);
    const { token, expiresIn, permissions } = issued;
    const lifetime = { expires_in: expiresIn, scope: permissions.join(' ') };
    return { status: 200, body: { access_token: token, token_type: 'Bearer', ...lifetime } };
  },

  async getDeviceLogin(input) {
    const login = await deviceLogins.get(toRequestOrigin(input), input.params.user_code);
    const { deviceName, address, permissions, createdAt, expiresAt } = login;
    return {
      status: 200,
      body: {
        ...(deviceName !== undefined && { device_name: deviceName }),
        ...{ address, permissions: [...permissions] },
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      },
    };
  },

  async approveDeviceLogin(input) {
    const { ttl_seconds: ttlSeconds, access, description, credential } = input.body;
    const approval = { ttlSeconds, access: toAccess(access), description, credential };
    await deviceLogins.approve(toRequestOrigin(input), input.params.user_code, approval);
    return { status: 204 };
  },

  async denyDeviceLogin(input) {
    await deviceLogins.deny(toRequestOrigin(input), input.params.user_code);
    return { status: 204 };
  },

  async getOwnToken({ caller }) {
    const { expiresAt, access, id, description, consumer, kind } = await ownTokens.get(caller);
    return {
      status: 200,
      body: {
        kind,
        ...(id !== undefined && { id }),
        ...(description !== undefined && { description }),
        ...(consumer !== undefined && { consumer }),
        ...(expiresAt && { expires_at: expiresAt.toISOString() }),
        ...(access && { access: toAccessBody(access) }),
      },
    };
  },

  async revokeOwnToken(input) {
    await ownTokens.revoke(toRequestOrigin(input), input.body.token);
    return { status: 200 };
  },
});

/** Returns an error of RFC 8628 in its form, with the fields of all other errors beside it. */
function toRefusal({ error, description }: DeviceLoginError, { requestId }: { readonly requestId: string }) {
  const body = { error, error_description: description, code: 'invalid_input', requestId } as const;
  return { status: 400, body } as const;
}

function toAccess({ name_prefix: namePrefix, ...limits }: components['schemas']['TokenAccess']): TokenAccess {
  return { ...limits, namePrefix };
}
