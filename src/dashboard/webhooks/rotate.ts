import type { Caller } from '../../accounts/callers.js';
import { requireSession } from '../../accounts/scopes.js';
import type { components } from '../../generated/dashboard/types.js';
import { inTransaction } from '../../storage/database.js';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { RetiredWebhooksTable, SettingsTable } from '../../storage/tables.js';
import { createWebhook, requireSettingsRow } from '../settings-row.js';

type RotatedWebhook = components['schemas']['RotatedWebhook'];

/** Long enough to have every webhook replaced at its forge; whoever knows the former ones makes boards be read until then. */
const RETIRED_MS = 86_400_000;

export interface RotateWebhookOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly now?: (() => number) | undefined;
}

export type RotateWebhook = (caller: Caller | undefined) => Promise<RotatedWebhook>;

/**
 * Gives the caller's webhook another token and secret. Deliveries to the former ones are taken for a day.
 *
 * @throws AppError `session_required` for a token, which could otherwise cut its person off.
 */
export function createRotateWebhook({ database, key, now = Date.now }: RotateWebhookOptions): RotateWebhook {
  async function rotate(personId: string): Promise<RotatedWebhook> {
    const { token, secret, sealed } = createWebhook(key, personId);
    const expiresAt = now() + RETIRED_MS;
    const isRotated = await inTransaction(database, async (transaction) => {
      await sweepRetiredWebhooks(transaction, now());
      const former = await requireSettingsRow(transaction, key, personId);
      await retire(transaction, former, expiresAt);
      const settings = transaction.updateTable('settings').set(sealed).where('person_id', '=', personId);
      const rotated = settings.where('webhook_token_hash', '=', former.webhook_token_hash);
      return (await rotated.executeTakeFirst()).numUpdatedRows > 0n;
    });
    // Another request was quicker: its webhook is the one to be retired.
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

/** Deletes webhooks that have had their time. */
async function sweepRetiredWebhooks(database: Database, at: number): Promise<void> {
  await database.deleteFrom('retired_webhooks').where('expires_at', '<=', at).execute();
}

/** Lists the webhooks of a person to which deliveries are still taken. */
export async function listRetiredWebhooks(
  database: Database,
  personId: string,
  at: number,
): Promise<Pick<RetiredWebhooksTable, 'person_id' | 'webhook'>[]> {
  const own = database.selectFrom('retired_webhooks').select(['person_id', 'webhook']);
  return own.where('person_id', '=', personId).where('expires_at', '>', at).execute();
}
