import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../errors.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import type { ServerKey } from '../storage/server-key.js';
import type { SettingsTable } from '../storage/tables.js';
import { NO_FORGES } from './forge-settings.js';
import type { ForgeSettings } from './forge-settings.js';

/** Where forges deliver to, and what they sign with. */
export interface Webhook {
  readonly token: string;
  readonly secret: string;
}

/** What the settings of a person are sealed for: moved to another row, they can't be unsealed. */
const forgesOf = (personId: string): string => `forges of ${personId}`;
const webhookOf = (personId: string): string => `webhook of ${personId}`;

/** Finds a person's settings, or makes them, with a webhook of their own, the first time that they are asked for. */
export async function requireSettingsRow(database: Database, key: ServerKey, personId: string): Promise<SettingsTable> {
  const known = await findSettingsRow(database, personId);
  if (known !== undefined) return known;
  const row = createRow(key, personId);
  return inTransaction(database, async (transaction) => {
    // Another request may have been quicker: then its row is the one.
    const settings = transaction.insertInto('settings').values(row);
    await settings.onConflict((conflict) => conflict.column('person_id').doNothing()).execute();
    return (await findSettingsRow(transaction, personId)) ?? row;
  });
}

export async function findSettingsRow(database: Database, personId: string): Promise<SettingsTable | undefined> {
  return database.selectFrom('settings').selectAll().where('person_id', '=', personId).executeTakeFirst();
}

/** @throws AppError `not_found` while the person never saved their settings, for then there is nothing to read from. */
export async function requireSavedSettings(database: Database, personId: string): Promise<void> {
  const row = await findSettingsRow(database, personId);
  if (row === undefined || row.saved_at === null) {
    throw new AppError('not_found', 'Expected settings that were saved once; these never were.');
  }
}

export function unsealForges(key: ServerKey, { person_id, forges }: SettingsTable): ForgeSettings {
  // Settings that came with a later release are missing in what an earlier one sealed.
  return { ...NO_FORGES, ...(JSON.parse(key.unseal(forges, forgesOf(person_id))) as Partial<ForgeSettings>) };
}

export function sealForges(key: ServerKey, personId: string, forges: ForgeSettings): Buffer {
  return key.seal(JSON.stringify(forges), forgesOf(personId));
}

export function unsealWebhook(
  key: ServerKey,
  { person_id, webhook }: Pick<SettingsTable, 'person_id' | 'webhook'>,
): Webhook {
  return JSON.parse(key.unseal(webhook, webhookOf(person_id))) as Webhook;
}

/** Makes a webhook of random values, and what is kept of it. */
export function createWebhook(
  key: ServerKey,
  personId: string,
): Webhook & { readonly sealed: Pick<SettingsTable, 'webhook_token_hash' | 'webhook'> } {
  const webhook: Webhook = {
    token: randomBytes(16).toString('base64url'),
    secret: randomBytes(32).toString('base64url'),
  };
  const sealed = {
    webhook_token_hash: createHash('sha256').update(webhook.token).digest('hex'),
    webhook: key.seal(JSON.stringify(webhook), webhookOf(personId)),
  };
  return { ...webhook, sealed };
}

function createRow(key: ServerKey, personId: string): SettingsTable {
  return {
    person_id: personId,
    saved_at: null,
    refreshed_at: null,
    forges: sealForges(key, personId, NO_FORGES),
    ...createWebhook(key, personId).sealed,
    theme: '',
    timezone: '',
    filter_state: '{}',
  };
}
