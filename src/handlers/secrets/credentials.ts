import type { CredentialsHandlers } from '../../generated/secrets/operations.js';

export const credentialsHandlers = (): CredentialsHandlers => ({
  async listCredentials() {
    throw new Error('listCredentials is not written yet.');
  },
  async deleteCredential() {
    throw new Error('deleteCredential is not written yet.');
  },
  async renameCredential() {
    throw new Error('renameCredential is not written yet.');
  },
});
