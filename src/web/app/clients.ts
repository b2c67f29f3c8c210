import { createDashboardClient } from '../../generated/dashboard/client.js';

/** Few and short retries: a user is waiting, so a page soon shows the error instead. */
export const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Authenticates with the session cookie, so that pages never hold a token. */
export const dashboardClient = createDashboardClient('/', { retry });
