import type { Caller } from '../../accounts/callers.js';
import { requirePerson } from '../../accounts/scopes.js';
import { AppError } from '../../errors.js';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import { toActionRefusal } from '../actions/refusals.js';
import type { ForgeName } from '../forges/facts.js';
import { ForgeError } from '../forges/forge-error.js';
import type { ForgeClients } from '../forges/open-forges.js';
import { requireSettingsRow, unsealWebhook } from '../settings-row.js';
import { listRetiredWebhooks } from './rotate.js';

export interface RepositoryReference {
  readonly forge: ForgeName;
  readonly fullName: string;
}

export interface EnsureWebhookOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly forges: Pick<ForgeClients, 'of'>;
  /** Where forges find this server. */
  readonly origin: () => string;
  readonly now?: (() => number) | undefined;
}

export type EnsureWebhook = (caller: Caller | undefined, repository: RepositoryReference) => Promise<void>;

/**
 * Has a forge deliver what happens in a repository to the caller's webhook.
 * Whether the forge can reach the origin shows when the first delivery comes.
 *
 * @throws AppError `invalid_input` without a credential for the forge; as an
 * action does when the forge refuses.
 */
export function createEnsureWebhook({
  database,
  key,
  forges,
  origin,
  now = Date.now,
}: EnsureWebhookOptions): EnsureWebhook {
  return async (caller, { forge: name, fullName }) => {
    const { personId } = requirePerson(caller);
    const forge = (await forges.of(personId)).get(name);
    if (forge === undefined) {
      throw new AppError('invalid_input', `Expected a credential for ${name} in the settings; there is none.`, {
        field: 'forge',
      });
    }
    const { token, secret } = unsealWebhook(key, await requireSettingsRow(database, key, personId));
    const former = await listRetiredWebhooks(database, personId, now());
    const toUrl = (part: string): string => `${origin().replace(/\/$/, '')}/api/webhooks/${name}/${part}`;
    const formerUrls = former.map((row) => toUrl(unsealWebhook(key, row).token));
    try {
      await forge.ensureWebhook(fullName, { url: toUrl(token), secret, formerUrls });
    } catch (error) {
      throw error instanceof ForgeError ? toActionRefusal(error, now()) : error;
    }
  };
}
