import type { DashboardHandlers, HealthHandlers } from '../../generated/dashboard/operations.js';
import type { components } from '../../generated/dashboard/types.js';
import type { SiteReport } from '../../site-data/service.js';
import { authHandlers, credentialsHandlers, tokensHandlers } from './account.js';
import { adminHandlers } from './admin.js';
import { boardHandlers, insightsHandlers, viewsHandlers, feedsHandlers, sharingHandlers } from './board.js';
import { pullRequestsHandlers, repositoriesHandlers } from './pull-requests.js';
import type { DashboardServices } from './services.js';
import { notificationsHandlers, settingsHandlers, webhooksHandlers } from './settings.js';

export const dashboardHandlers = (services: DashboardServices): DashboardHandlers => ({
  ...healthHandlers(services),
  ...authHandlers(services),
  ...credentialsHandlers(services),
  ...tokensHandlers(services),
  ...settingsHandlers(services),
  ...boardHandlers(services),
  ...pullRequestsHandlers(services),
  ...repositoriesHandlers(services),
  ...webhooksHandlers(services),
  ...viewsHandlers(services),
  ...feedsHandlers(services),
  ...notificationsHandlers(services),
  ...insightsHandlers(services),
  ...sharingHandlers(services),
  ...adminHandlers(services),
});

type Services = Pick<DashboardServices, 'readiness' | 'siteReport' | 'version'>;

const healthHandlers = ({ readiness, siteReport, version }: Services): HealthHandlers => ({
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
