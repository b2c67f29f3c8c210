import { createSecretsClient } from '../../../generated/secrets/client.js';
import { retry } from '../clients.js';
import { repeatAfterSignIn } from '../shell/signed-out.js';

/** Goes by the session's cookie, as `dashboard` does. */
export const secrets = createSecretsClient('/secrets', { retry });
secrets.use(repeatAfterSignIn);
