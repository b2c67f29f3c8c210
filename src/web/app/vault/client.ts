import { createSecretsClient } from '../../../generated/secrets/client.js';
import { retry } from '../clients.js';

/** Goes by the session's cookie, as `dashboard` does. */
export const secrets = createSecretsClient('/secrets', { retry });
