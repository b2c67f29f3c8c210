import type { BoardHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const boardHandlers = ({ dashboard }: Pick<DashboardServices, 'dashboard'>): BoardHandlers => {
  const { boards, refreshes, streams, visits } = dashboard;
  return {
    getDashboard: async ({ caller, query }) => ({ status: 200, body: await boards.read(caller, query) }),

    refreshDashboard: async ({ caller, query }) => ({ status: 200, body: await refreshes.run(caller, query) }),

    async streamDashboard({ caller, query, headers, signal }) {
      const request = { ...query, lastEventId: headers['last-event-id'], signal };
      return { status: 200, body: await streams.open(caller, request) };
    },

    async saveVisit({ caller, body: { seenAt } }) {
      await visits.save(caller, new Date(seenAt));
      return { status: 204 };
    },
  };
};
