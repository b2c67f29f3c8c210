import type { Caller } from '../../accounts/callers.js';
import { requireUser } from '../../accounts/scopes.js';
import { AppError } from '../../core/errors.js';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import { toActionError } from '../actions/action-errors.js';
import type { ForgeName } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { FORGE_PRODUCT_NAMES } from '../forges/forge.js';
import type { ForgeClients } from '../forges/forge-clients.js';
import { getOrCreateSettingsRow, decryptWebhook } from '../settings-row.js';
import { listRetiredWebhooks } from './rotate.js';

export interface RepositoryReference {
  readonly forge: ForgeName;
  readonly fullName: string;
}

export interface EnsureWebhookOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly forges: Pick<ForgeClients, 'of'>;
  /** Returns the public origin, under which forges reach this server. */
  readonly origin: () => string;
  readonly now?: (() => number) | undefined;
}

export type EnsureWebhook = (caller: Caller | undefined, repository: RepositoryReference) => Promise<void>;

/**
 * Creates a function that sets up the caller's webhook in a repository. Only the first delivery shows whether the forge
 * can reach the origin.
 *
 * @throws AppError `invalid_input` without a credential for the forge; as for actions if the forge rejects the request.
 */
export function createEnsureWebhook({
  database,
  key,
  forges,
  origin,
  now = Date.now,
}: EnsureWebhookOptions): EnsureWebhook {
  return async (caller, { forge: name, fullName }) => {
    const { personId } = requireUser(caller);
    const forge = (await forges.of(personId)).get(name);
    if (forge === undefined) {
      const message = `No ${FORGE_PRODUCT_NAMES[name]} token or username is configured.`;
      throw new AppError('invalid_input', message, { field: 'forge' });
    }
    const { token, secret } = decryptWebhook(key, await getOrCreateSettingsRow(database, key, personId));
    const former = await listRetiredWebhooks(database, personId, now());
    const toUrl = (part: string): string => `${origin().replace(/\/$/, '')}/api/webhooks/${name}/${part}`;
    const formerUrls = former.map((row) => toUrl(decryptWebhook(key, row).token));
    try {
      await forge.ensureWebhook(fullName, { url: toUrl(token), secret, formerUrls });
    } catch (error) {
      throw error instanceof ForgeError ? toActionError(error, now()) : error;
    }
  };
}
