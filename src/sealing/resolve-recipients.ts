import { decodeError } from '../client/errors.js';
import type { SecretsClient } from '../generated/secrets/client.js';
import type { CheckKeys, PartyKey } from './known-keys.js';
import { SealingError } from './sealing-error.js';

/** The parties that a value is sealed to. */
export interface RecipientSelection {
  /** The names of the secret's consumers. Each needs a public key. */
  readonly usedBy?: readonly string[] | undefined;
  /** Whether to add the owner to the recipients. */
  readonly keepReadableCopy?: boolean | undefined;
  /** Further public keys. */
  readonly recipients?: readonly string[] | undefined;
  /** Compares the keys that the service reports with the ones used before. Without it they are trusted. */
  readonly checkKeys?: CheckKeys | undefined;
}

/** The largest page that the service returns. */
const PAGE_SIZE = 100;

/**
 * Returns the distinct public keys of the selected recipients, as the service reports them.
 *
 * @throws SealingError `no_key` that names the parties without a key; ApiError for an error response; the error of
 * `checkKeys`.
 */
export async function resolveRecipients(client: SecretsClient, selection: RecipientSelection): Promise<string[]> {
  const { usedBy = [], keepReadableCopy = false, recipients = [], checkKeys } = selection;
  const keys = await findConsumerKeys(client, [...new Set(usedBy)]);
  if (keepReadableCopy) keys.push({ consumer: undefined, publicKey: await requireOwnerKey(client) });
  await checkKeys?.(keys);
  const reported = keys.map(({ publicKey }) => publicKey);
  const all = [...new Set([...reported, ...recipients.map((recipient) => recipient.trim())])];
  if (all.length > 0) return all;
  throw new SealingError('no_key', 'Choose at least one recipient: a consumer, the owner or a public key.');
}

/** Returns the owner's public key; `undefined` when none is registered. */
export async function findOwnerKey(client: SecretsClient): Promise<string | undefined> {
  const { data, error, response } = await client.GET('/auth/identity');
  const apiError = decodeError(response, error);
  if (apiError) throw apiError;
  return data?.public_key;
}

async function requireOwnerKey(client: SecretsClient): Promise<string> {
  const key = await findOwnerKey(client);
  if (key !== undefined) return key;
  throw new SealingError('no_key', 'The owner has no public key, which a readable copy needs.');
}

async function findConsumerKeys(client: SecretsClient, names: readonly string[]): Promise<PartyKey[]> {
  const keys: PartyKey[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const key = await findConsumerKey(client, name);
    if (key === undefined) missing.push(name);
    else keys.push({ consumer: name, publicKey: requireAgeKey(key, name) });
  }
  if (missing.length === 0) return keys;
  throw new SealingError('no_key', `These consumers have no public key: ${missing.join(', ')}.`);
}

/** Finds the key of a consumer by its exact name. The service also lists names that contain it, in any case. */
async function findConsumerKey(client: SecretsClient, name: string): Promise<string | undefined> {
  for (let page = 1; ; page += 1) {
    const params = { query: { q: name, page, page_size: PAGE_SIZE } };
    const { data, error, response } = await client.GET('/consumers', { params });
    const apiError = decodeError(response, error);
    if (apiError) throw apiError;
    // The type allows a plain list too, which the service returns only without parameters.
    if (data === undefined || !('consumers' in data)) return undefined;
    const found = data.consumers.find((consumer) => consumer.name === name);
    if (found || page * PAGE_SIZE >= data.total) return found?.public_key;
  }
}

function requireAgeKey(key: string, name: string): string {
  if (key.startsWith('age1')) return key;
  throw new SealingError('no_key', `Expected an age public key (age1…) for ${name}; received a different kind of key.`);
}
