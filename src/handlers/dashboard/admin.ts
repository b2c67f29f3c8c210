import type { AdminHandlers } from '../../generated/dashboard/operations.js';

export const adminHandlers = (): AdminHandlers => ({
  async listUsers() {
    throw new Error('listUsers is not written yet.');
  },
  async deleteUser() {
    throw new Error('deleteUser is not written yet.');
  },
  async revokeUser() {
    throw new Error('revokeUser is not written yet.');
  },
  async listInvites() {
    throw new Error('listInvites is not written yet.');
  },
  async createInvite() {
    throw new Error('createInvite is not written yet.');
  },
  async revokeInvite() {
    throw new Error('revokeInvite is not written yet.');
  },
  async listRequests() {
    throw new Error('listRequests is not written yet.');
  },
  async exportRequests() {
    throw new Error('exportRequests is not written yet.');
  },
});
