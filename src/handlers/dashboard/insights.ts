import type { InsightsHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

export const insightsHandlers = ({
  dashboard: { throughput },
}: Pick<DashboardServices, 'dashboard'>): InsightsHandlers => ({
  getThroughput: async ({ caller, query }) => ({ status: 200, body: await throughput.read(caller, query) }),
});
