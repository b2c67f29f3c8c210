import { createDashboardClient } from '../../generated/dashboard/client.js';
import { createSecretsClient } from '../../generated/secrets/client.js';

/** Somebody waits before the page: what fails twice more is told, with when to come back, rather than waited for. */
const retry = { maxRetries: 2, maxRetryAfterMs: 1_000 };

/** Both go by the session's cookie, so that no token is ever in a page. */
export const dashboard = createDashboardClient('/', { retry });

export const secrets = createSecretsClient('/secrets', { retry });
