import type { HealthHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

type Services = Pick<DashboardServices, 'readiness' | 'version'>;

export const healthHandlers = ({ readiness, version }: Services): HealthHandlers => ({
  getHealth: async () => ({ status: 200, body: { status: 'ok' } }),

  async getReadiness() {
    const { openResources } = await readiness.require();
    return { status: 200, body: { status: 'ok', goroutines: openResources } };
  },

  getVersion: async () => ({ status: 200, body: { version } }),
});
