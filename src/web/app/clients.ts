import { createDashboardClient } from '../../generated/dashboard/client.js';

/** Somebody waits before the page: what fails twice more is told, with when to come back, rather than waited for. */
export const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Goes by the session's cookie, so that no token is ever in a page. */
export const dashboard = createDashboardClient('/', { retry });
