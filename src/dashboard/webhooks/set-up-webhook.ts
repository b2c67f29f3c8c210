import { type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { RetiredWebhooksTable, SettingsTable } from '../../storage/tables.js';
import { type ForgeClients, requireForgeOf } from '../forges/forge-clients.js';
import { ForgeError } from '../forges/forge-error.js';
import type { ForgeName } from '../forges/forge.js';
import { toActionError } from '../pull-requests/action-errors.js';
import { createWebhook, decryptWebhook, getOrCreateSettingsRow } from '../settings/settings-rows.js';

export interface RepositoryReference {
  readonly forge: ForgeName;
  readonly fullName: string;
}

interface EnsureWebhookOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly forges: Pick<ForgeClients, 'of'>;
  /** Returns the public origin, under which forges reach this server. */
  readonly origin: () => string;
  readonly now?: () => number;
}

export type EnsureWebhook = (caller: Caller | undefined, repository: RepositoryReference) => Promise<void>;

/**
 * Creates a function that sets up the caller's webhook in a repository. Only the first delivery shows whether the forge
 * can reach the origin.
 *
 * @throws AppError `invalid_input` without a credential for the forge, or for a name that it can't have; as for actions if the forge rejects the request.
 */
export function createEnsureWebhook({
  database,
  key,
  forges,
  origin,
  now = Date.now,
}: EnsureWebhookOptions): EnsureWebhook {
  return async (caller, repository) => {
    const { personId } = requireUser(caller);
    const forge = requireForgeOf(await forges.of(personId), repository);
    const { forge: name, fullName } = repository;
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

type RotatedWebhook = components['schemas']['RotatedWebhook'];

/** Leaves time to update the webhook at every forge. Until then, a leaked former secret can still cause refreshes. */
const RETIRED_MS = 86_400_000;

interface RotateWebhookOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly now?: () => number;
}

export type RotateWebhook = (caller: Caller | undefined) => Promise<RotatedWebhook>;

/**
 * Creates a function that replaces the token and secret of the caller's webhook. Deliveries with the former ones are
 * accepted for a day.
 *
 * @throws AppError `session_required` for a token, which could otherwise cut off its user's deliveries.
 */
export function createRotateWebhook({ database, key, now = Date.now }: RotateWebhookOptions): RotateWebhook {
  async function rotate(personId: string): Promise<RotatedWebhook> {
    const { token, secret, sealed } = createWebhook(key, personId);
    const expiresAt = now() + RETIRED_MS;
    const isRotated = await inTransaction(database, async (transaction) => {
      await sweepRetiredWebhooks(transaction, now());
      const former = await getOrCreateSettingsRow(transaction, key, personId);
      await retire(transaction, former, expiresAt);
      const settings = transaction.updateTable('settings').set(sealed).where('person_id', '=', personId);
      const rotated = settings.where('webhook_token_hash', '=', former.webhook_token_hash);
      return (await rotated.executeTakeFirst()).numUpdatedRows > 0n;
    });
    // A concurrent rotation was first: retry, which retires its webhook.
    if (!isRotated) return rotate(personId);
    return { webhookToken: token, webhookSecret: secret, formerUntil: new Date(expiresAt).toISOString() };
  }

  return async (caller) => rotate(requireSession(caller).personId);
}

async function retire(database: Database, former: SettingsTable, expiresAt: number): Promise<void> {
  const { webhook_token_hash: token_hash, person_id, webhook } = former;
  const retired = database
    .insertInto('retired_webhooks')
    .values({ token_hash, person_id, webhook, expires_at: expiresAt });
  await retired.onConflict((conflict) => conflict.column('token_hash').doNothing()).execute();
}

async function sweepRetiredWebhooks(database: Database, at: number): Promise<void> {
  await database.deleteFrom('retired_webhooks').where('expires_at', '<=', at).execute();
}

/** Lists the user's former webhooks whose deliveries are still accepted. */
async function listRetiredWebhooks(
  database: Database,
  personId: string,
  at: number,
): Promise<Pick<RetiredWebhooksTable, 'person_id' | 'webhook'>[]> {
  const own = database.selectFrom('retired_webhooks').select(['person_id', 'webhook']);
  return own.where('person_id', '=', personId).where('expires_at', '>', at).execute();
}
