import type { AuthHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';
import { toCredentialBody } from './credential-bodies.js';
import { toOrigin } from './origin.js';

type Services = Pick<SecretsServices, 'accounts' | 'owner' | 'ownerAccess'>;

export const authHandlers = ({ accounts: { sessions, cookies }, owner, ownerAccess }: Services): AuthHandlers => ({
  async beginRegistration(input) {
    const { setup_token: setupToken, username, display_name: displayName } = input.body ?? {};
    const start = { setupToken, username, displayName };
    return { status: 200, body: { publicKey: await ownerAccess.beginRegistration(toOrigin(input), start) } };
  },

  async finishRegistration(input) {
    const { credential, username, nickname: label, public_key: publicKey, ...wrapped } = input.body;
    const { passkey, sessionId } = await ownerAccess.finishRegistration(toOrigin(input), {
      credential,
      username,
      label,
      publicKey,
      wrappedIdentity: wrapped.wrapped_identity,
      recoveryWrappedIdentity: wrapped.recovery_wrapped_identity,
    });
    const headers = sessionId === undefined ? {} : { 'Set-Cookie': cookies.give(sessionId) };
    return { status: 201, body: toCredentialBody(passkey), headers };
  },

  beginLogin: async () => ({ status: 200, body: { publicKey: await ownerAccess.beginSignIn() } }),

  async finishLogin({ body, address }) {
    const sessionId = await ownerAccess.finishSignIn(body.credential, address);
    return { status: 204, headers: { 'Set-Cookie': cookies.give(sessionId) } };
  },

  async logout({ caller, address }) {
    await sessions.signOut(caller, address);
    return { status: 204, headers: { 'Set-Cookie': cookies.clear() } };
  },

  getAuthStatus: async () => ({ status: 200, body: { bootstrapped: await owner.exists() } }),

  async getIdentity({ caller }) {
    const { publicKey, recoveryWrappedIdentity: recovery } = await owner.readIdentity(caller);
    const body = {
      ...(publicKey !== undefined && { public_key: publicKey }),
      ...(recovery !== undefined && { recovery_wrapped_identity: recovery }),
    };
    return { status: 200, body };
  },
});
