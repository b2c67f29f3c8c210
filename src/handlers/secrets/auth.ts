import type { AuthHandlers } from '../../generated/secrets/operations.js';
import type { SecretsServices } from './handlers.js';

export const authHandlers = ({ owner }: Pick<SecretsServices, 'owner'>): AuthHandlers => ({
  getAuthStatus: async () => ({ status: 200, body: { bootstrapped: await owner.exists() } }),

  async getIdentity({ caller }) {
    const publicKey = await owner.findPublicKey(caller);
    return { status: 200, body: publicKey === undefined ? {} : { public_key: publicKey } };
  },
  async beginRegistration() {
    throw new Error('beginRegistration is not written yet.');
  },
  async finishRegistration() {
    throw new Error('finishRegistration is not written yet.');
  },
  async beginLogin() {
    throw new Error('beginLogin is not written yet.');
  },
  async finishLogin() {
    throw new Error('finishLogin is not written yet.');
  },
  async logout() {
    throw new Error('logout is not written yet.');
  },
});
