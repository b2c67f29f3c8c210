import type { TokensHandlers } from '../../generated/secrets/operations.js';

export const tokensHandlers = (): TokensHandlers => ({
  async listTokens() {
    throw new Error('listTokens is not written yet.');
  },
  async createToken() {
    throw new Error('createToken is not written yet.');
  },
  async revokeToken() {
    throw new Error('revokeToken is not written yet.');
  },
  async rotateToken() {
    throw new Error('rotateToken is not written yet.');
  },
  async purgeToken() {
    throw new Error('purgeToken is not written yet.');
  },
});
