import type { AuthHandlers } from '../../generated/secrets/operations.js';
import type { components } from '../../generated/secrets/types.js';
import type { OwnerIdentity } from '../../secrets/owner.js';
import type { SecretsServices } from './handlers.js';
import { toCredentialBody } from './credential-bodies.js';
import { toRequestOrigin } from './request-origin.js';

type Services = Pick<SecretsServices, 'accounts' | 'owner' | 'ownerAccess'>;

export const authHandlers = ({ accounts: { sessions, cookies }, owner, ownerAccess }: Services): AuthHandlers => ({
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
    });
    const headers = sessionId === undefined ? {} : { 'Set-Cookie': cookies.set(sessionId) };
    return { status: 201, body: toCredentialBody(passkey), headers };
  },

  beginLogin: async () => ({ status: 200, body: { publicKey: await ownerAccess.beginSignIn() } }),

  async finishLogin({ body, address }) {
    const sessionId = await ownerAccess.finishSignIn(body.credential, address);
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
