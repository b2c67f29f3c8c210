import type { SharingHandlers } from '../../generated/dashboard/operations.js';

export const sharingHandlers = (): SharingHandlers => ({
  async getSharing() {
    throw new Error('getSharing is not written yet.');
  },
  async unshareBoard() {
    throw new Error('unshareBoard is not written yet.');
  },
  async shareBoard() {
    throw new Error('shareBoard is not written yet.');
  },
});
