import type { SiteReport } from '../../site-service.js';
import type { components } from '../../generated/dashboard/types.js';
import type { HealthHandlers } from '../../generated/dashboard/operations.js';
import type { DashboardServices } from './handlers.js';

type Services = Pick<DashboardServices, 'readiness' | 'siteReport' | 'version'>;

export const healthHandlers = ({ readiness, siteReport, version }: Services): HealthHandlers => ({
  getHealth: async () => ({ status: 200, body: { status: 'ok' } }),

  async getReadiness() {
    const { openResources } = await readiness.require();
    const site = siteReport && toSiteReadiness(siteReport());
    return { status: 200, body: { status: 'ok', goroutines: openResources, ...(site && { site }) } };
  },

  getVersion: async () => ({ status: 200, body: { version } }),
});

const toSiteReadiness = (report: SiteReport): components['schemas']['SiteReadiness'] =>
  report.status === 'ok' && report.problems ? { ...report, problems: [...report.problems] } : report;
