import type { TokenAccess } from '../../accounts/callers.js';
import type { DeviceLoginHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { DeviceLoginError } from '../../secrets/device-logins.js';
import { toRequestOrigin } from './objects.js';
import type { SecretsServices } from './services.js';
import { toAccessBody } from './tokens.js';

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
