import type { Accounts } from '../../accounts/accounts.js';
import type { Dashboard } from '../../dashboard/dashboard.js';
import type { SiteReport, SiteWork } from '../../site-data/service.js';
import type { CleanupJob } from '../../storage/cleanup-job.js';
import type { Readiness } from '../../storage/readiness.js';

/** The dependencies of the dashboard's handlers. */
export interface DashboardServices {
  readonly accounts: Accounts;
  readonly dashboard: Dashboard;
  readonly readiness: Readiness;
  /** The release without its leading v, or `dev`. */
  readonly version: string;
  /** Returns the state of the site; absent if the site is not served. */
  readonly siteReport?: () => SiteReport;
  /** Returns the background work of the site; absent if the site is not served. */
  readonly siteWork?: () => SiteWork;
  readonly cleanup: Pick<CleanupJob, 'runNow' | 'status'>;
}
