import type { CredentialsHandlers } from '../../generated/dashboard/operations.js';

export const credentialsHandlers = (): CredentialsHandlers => ({
  async listCredentials() {
    throw new Error('listCredentials is not written yet.');
  },
  async beginCredential() {
    throw new Error('beginCredential is not written yet.');
  },
  async finishCredential() {
    throw new Error('finishCredential is not written yet.');
  },
  async deleteCredential() {
    throw new Error('deleteCredential is not written yet.');
  },
});
