import type { BoardHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const boardHandlers = ({ boards }: Pick<DashboardServices, 'boards'>): BoardHandlers => ({
  getDashboard: async ({ caller, query }) => ({ status: 200, body: await boards.read(caller, query) }),
  async refreshDashboard() {
    throw new Error('refreshDashboard is not written yet.');
  },
  async streamDashboard() {
    throw new Error('streamDashboard is not written yet.');
  },
});
