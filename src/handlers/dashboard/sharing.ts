import type { SharingHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const sharingHandlers = ({ dashboard: { sharing } }: Pick<DashboardServices, 'dashboard'>): SharingHandlers => ({
  getSharing: async ({ caller }) => ({ status: 200, body: await sharing.list(caller) }),

  async shareBoard({ caller, params }) {
    await sharing.share(caller, params.username);
    return { status: 204 };
  },

  async unshareBoard({ caller, params }) {
    await sharing.unshare(caller, params.username);
    return { status: 204 };
  },
});
