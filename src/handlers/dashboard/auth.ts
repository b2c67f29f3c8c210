import type { AuthHandlers } from '../../generated/dashboard/operations.js';

export const authHandlers = (): AuthHandlers => ({
  async getRegistrationStatus() {
    throw new Error('getRegistrationStatus is not written yet.');
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
  async logoutEverywhere() {
    throw new Error('logoutEverywhere is not written yet.');
  },
  async getSession() {
    throw new Error('getSession is not written yet.');
  },
});
