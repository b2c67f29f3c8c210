/** A user's forge settings: how they are stored, and how a request changes them. */
import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { SettingsTable, ForgeCredentialsTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/forge.js';

/** The token in a user's webhook URL, and the secret that deliveries are signed with. */
export interface WebhookCredentials {
  readonly token: string;
  readonly secret: string;
}

/** The encryption context binds a value to its user: copied to another row, it can't be decrypted. */
const forgesContext = (personId: string): string => `forges of ${personId}`;
const webhookContext = (personId: string): string => `webhook of ${personId}`;

/** Returns the user's settings. The first call creates them, with a new webhook. */
export async function getOrCreateSettingsRow(
  database: Database,
  key: ServerKey,
  personId: string,
): Promise<SettingsTable> {
  const known = await findSettingsRow(database, personId);
  if (known !== undefined) return known;
  const row = createRow(key, personId);
  return inTransaction(database, async (transaction) => {
    // A concurrent request may have inserted its row first.
    const settings = transaction.insertInto('settings').values(row);
    await settings.onConflict((conflict) => conflict.column('person_id').doNothing()).execute();
    return (await findSettingsRow(transaction, personId)) ?? row;
  });
}

export async function findSettingsRow(database: Database, personId: string): Promise<SettingsTable | undefined> {
  return database.selectFrom('settings').selectAll().where('person_id', '=', personId).executeTakeFirst();
}

/** @throws AppError `not_found` if the user has never saved forge settings, so that there are no forges to read. */
export async function assertSettingsSaved(database: Database, personId: string): Promise<void> {
  const row = await findSettingsRow(database, personId);
  if (row?.saved_at == null) {
    throw new AppError('not_found', 'No forge settings saved yet. Save them first.');
  }
}

/** Encrypts everything that the server key protects with a new key. All rows are read at once: each has about 1 KB. */
export async function reencryptSettings(transaction: Database, from: ServerKey, to: ServerKey): Promise<void> {
  const renew = (sealed: Uint8Array, context: string) => to.encrypt(from.decrypt(sealed, context), context);
  const rows = await transaction.selectFrom('settings').select(['person_id', 'forges', 'webhook']).execute();
  for (const { person_id: id, forges, webhook } of rows) {
    const renewed = { forges: renew(forges, forgesContext(id)), webhook: renew(webhook, webhookContext(id)) };
    await transaction.updateTable('settings').set(renewed).where('person_id', '=', id).execute();
  }
  await reencryptCredentials(transaction, renew);
  for (const { person_id: id, ...old } of await transaction.selectFrom('retired_webhooks').selectAll().execute()) {
    await transaction
      .updateTable('retired_webhooks')
      .set({ webhook: renew(old.webhook, webhookContext(id)) })
      .where('token_hash', '=', old.token_hash)
      .execute();
  }
}

export function decryptForgeSettings(key: ServerKey, { person_id, forges }: SettingsTable): ForgeSettings {
  // Values that an earlier release stored lack settings that were added later.
  return { ...NO_FORGES, ...(JSON.parse(key.decrypt(forges, forgesContext(person_id))) as Partial<ForgeSettings>) };
}

export function encryptForgeSettings(key: ServerKey, personId: string, forges: ForgeSettings): Buffer {
  return key.encrypt(JSON.stringify(forges), forgesContext(personId));
}

export function decryptWebhook(
  key: ServerKey,
  { person_id, webhook }: Pick<SettingsTable, 'person_id' | 'webhook'>,
): WebhookCredentials {
  return JSON.parse(key.decrypt(webhook, webhookContext(person_id))) as WebhookCredentials;
}

/** Creates a webhook with a random token and secret, together with the columns that store it. */
export function createWebhook(
  key: ServerKey,
  personId: string,
): WebhookCredentials & { readonly sealed: Pick<SettingsTable, 'webhook_token_hash' | 'webhook'> } {
  const webhook: WebhookCredentials = {
    token: randomBytes(16).toString('base64url'),
    secret: randomBytes(32).toString('base64url'),
  };
  const sealed = {
    webhook_token_hash: createHash('sha256').update(webhook.token).digest('hex'),
    webhook: key.encrypt(JSON.stringify(webhook), webhookContext(personId)),
  };
  return { ...webhook, sealed };
}

function createRow(key: ServerKey, personId: string): SettingsTable {
  return {
    person_id: personId,
    saved_at: null,
    refreshed_at: null,
    forges: encryptForgeSettings(key, personId, NO_FORGES),
    ...createWebhook(key, personId).sealed,
    theme: '',
    timezone: '',
    filter_state: '{}',
  };
}

// The stored form of further credentials.

interface Sealed {
  readonly username: string;
  readonly token: string;
}

/** The encryption context binds a token to its row and its server: copied elsewhere, it can't be decrypted. */
const contextOf = ({ id, person_id, url }: Pick<ForgeCredentialsTable, 'id' | 'person_id' | 'url'>): string =>
  `credential ${id} of ${person_id} at ${url}`;

export function toCredentialRow(
  key: ServerKey,
  personId: string,
  { credential, at }: { readonly credential: StoredCredential; readonly at: number },
): ForgeCredentialsTable {
  const { id, forge, label, url, username, token } = credential;
  const row = { id, person_id: personId, forge, label, url, created_at: at, saved_at: at };
  const sealed: Sealed = { username, token };
  return { ...row, sealed: key.encrypt(JSON.stringify(sealed), contextOf(row)) };
}

export function toStoredCredential(key: ServerKey, row: ForgeCredentialsTable): StoredCredential {
  const { id, forge, label, url, sealed } = row;
  const { username, token } = JSON.parse(key.decrypt(sealed, contextOf(row))) as Sealed;
  // The cast is safe: only values of the contract are stored.
  return { id, forge: forge as ForgeName, label, url, username, token };
}

/** Lists a user's credentials with their tokens, the oldest first. */
export async function listStoredCredentials(
  database: Database,
  key: ServerKey,
  personId: string,
): Promise<StoredCredential[]> {
  return (await listCredentialRows(database, personId)).map((row) => toStoredCredential(key, row));
}

/** Lists rows in the order of the board. */
export function listCredentialRows(database: Database, personId: string): Promise<ForgeCredentialsTable[]> {
  const own = database.selectFrom('forge_credentials').selectAll().where('person_id', '=', personId);
  return own.orderBy('created_at').orderBy('id').execute();
}

/** Encrypts all tokens again. */
async function reencryptCredentials(
  transaction: Database,
  renew: (sealed: Uint8Array, context: string) => Uint8Array,
): Promise<void> {
  for (const row of await transaction.selectFrom('forge_credentials').selectAll().execute()) {
    const sealed = renew(row.sealed, contextOf(row));
    await transaction.updateTable('forge_credentials').set({ sealed }).where('id', '=', row.id).execute();
  }
}

export type SettingsRequest = components['schemas']['SettingsRequest'];

/** Unset values are empty strings, and 0 for the installation id. */
export interface ForgeSettings {
  readonly githubUrl: string;
  readonly githubUsername: string;
  readonly githubToken: string;
  readonly githubAppInstallationId: number;
  readonly forgejoUrl: string;
  readonly forgejoUsername: string;
  readonly forgejoToken: string;
  readonly gitlabUrl: string;
  readonly gitlabUsername: string;
  readonly gitlabToken: string;
  readonly renovateRebaseLabel: string;
  readonly renovateAuthors: readonly string[];
  /** Further credentials, the oldest first; never stored with the settings. */
  readonly credentials?: readonly StoredCredential[];
}

/** A credential beside the one of its kind in the settings. */
export interface StoredCredential {
  readonly id: string;
  readonly forge: ForgeName;
  readonly label: string;
  /** Empty for github.com. */
  readonly url: string;
  readonly username: string;
  readonly token: string;
}

export const NO_FORGES: ForgeSettings = {
  githubUrl: '',
  githubUsername: '',
  githubToken: '',
  githubAppInstallationId: 0,
  forgejoUrl: '',
  forgejoUsername: '',
  forgejoToken: '',
  gitlabUrl: '',
  gitlabUsername: '',
  gitlabToken: '',
  renovateRebaseLabel: '',
  renovateAuthors: [],
};

/**
 * Returns the settings of the request, with the stored tokens where the request omits them or leaves them blank and the
 * URL of the forge is unchanged. `null` removes a token.
 *
 * @throws AppError `invalid_input` with the field, for an invalid URL, or for a missing one if the forge's token or
 * username is set.
 */
export function mergeForgeSettings(stored: ForgeSettings, request: SettingsRequest): ForgeSettings {
  const urls = {
    githubUrl: parseForgeUrl(request.githubUrl ?? '', 'githubUrl'),
    forgejoUrl: parseForgeUrl(request.forgejoUrl ?? '', 'forgejoUrl'),
    gitlabUrl: parseForgeUrl(request.gitlabUrl ?? '', 'gitlabUrl'),
  };
  // A stored token must never be sent to a different server than the one that it was entered for.
  // If the URL is empty, `assertUrl` reports it; only GitHub has a default URL.
  const storedToken = (url: keyof typeof urls, token: string): string =>
    urls[url] === stored[url] || (urls[url] === '' && url !== 'githubUrl') ? token : '';
  const merged = {
    ...urls,
    githubUsername: request.githubUsername?.trim() ?? '',
    githubToken: mergeToken(storedToken('githubUrl', stored.githubToken), request.githubToken),
    githubAppInstallationId: request.githubAppInstallationId ?? 0,
    forgejoUsername: request.forgejoUsername?.trim() ?? '',
    forgejoToken: mergeToken(storedToken('forgejoUrl', stored.forgejoToken), request.forgejoToken),
    gitlabUsername: request.gitlabUsername?.trim() ?? '',
    gitlabToken: mergeToken(storedToken('gitlabUrl', stored.gitlabToken), request.gitlabToken),
    renovateRebaseLabel: request.renovateRebaseLabel?.trim() ?? '',
    renovateAuthors: toDistinct(request.renovateAuthors ?? []),
  };
  assertUrl('forgejo', merged.forgejoUrl, merged.forgejoToken + merged.forgejoUsername);
  assertUrl('gitlab', merged.gitlabUrl, merged.gitlabToken + merged.gitlabUsername);
  return merged;
}

function mergeToken(stored: string, given: string | null | undefined): string {
  if (given === null) return '';
  return given === undefined || given.trim() === '' ? stored : given.trim();
}

function toDistinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '');
}

/** Returns the URL in normal form, without a trailing slash, so that paths can be appended. */
export function parseForgeUrl(text: string, field: string): string {
  if (text.trim() === '') return '';
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  if (isPlain) return (url.origin + url.pathname).replace(/\/+$/, '');
  // The value is not quoted, because it may contain credentials.
  const message = `Expected ${field} to be an http or https URL without credentials, query or fragment.`;
  throw new AppError('invalid_input', message, { field });
}

function assertUrl(forge: 'forgejo' | 'gitlab', url: string, credential: string): void {
  if (url !== '' || credential === '') return;
  const message = `${forge}Url is required if ${forge}Token or ${forge}Username is set.`;
  throw new AppError('invalid_input', message, { field: `${forge}Url` });
}
