import { createDashboardClient } from '../../generated/dashboard/client.js';
import { createSecretsClient } from '../../generated/secrets/client.js';

/** Both go by the session's cookie, so that no token is ever in a page. */
export const dashboard = createDashboardClient('/');

export const secrets = createSecretsClient('/secrets');
