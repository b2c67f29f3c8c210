import { createSecretsClient } from '../../../generated/secrets/client.js';
import { retry } from '../clients.js';
import { repeatAfterSignIn } from '../ui/session-expired.js';

/** The client of the secrets service. The session cookie authenticates it. */
export const secretsClient = createSecretsClient('/secrets', { retry });
secretsClient.use(repeatAfterSignIn);
