import type { Accounts } from '../../accounts/accounts.js';
import type { Dashboard } from '../../dashboard/dashboard.js';
import type { DashboardHandlers } from '../../generated/dashboard/operations.js';
import type { Readiness } from '../../storage/running-server.js';
import type { SiteReport } from '../../site-service.js';
import { adminHandlers } from './admin.js';
import { authHandlers } from './auth.js';
import { boardHandlers } from './board.js';
import { credentialsHandlers } from './credentials.js';
import { healthHandlers } from './health.js';
import { feedsHandlers } from './feeds.js';
import { insightsHandlers } from './insights.js';
import { pullRequestsHandlers } from './pull-requests.js';
import { repositoriesHandlers } from './repositories.js';
import { settingsHandlers } from './settings.js';
import { sharingHandlers } from './sharing.js';
import { tokensHandlers } from './tokens.js';
import { viewsHandlers } from './views.js';
import { webhooksHandlers } from './webhooks.js';

/** The dependencies of the dashboard's handlers. */
export interface DashboardServices {
  readonly accounts: Accounts;
  readonly dashboard: Dashboard;
  readonly readiness: Readiness;
  /** The release without its leading v, or `dev`. */
  readonly version: string;
  /** Returns the state of the site; absent if the site is not served. */
  readonly siteReport?: (() => SiteReport) | undefined;
}

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
  ...insightsHandlers(services),
  ...sharingHandlers(services),
  ...adminHandlers(services),
});
