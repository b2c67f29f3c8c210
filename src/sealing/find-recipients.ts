import { decodeError } from '../client/errors.js';
import type { SecretsClient } from '../generated/secrets/client.js';
import type { CheckKeys, PartyKey } from './known-keys.js';
import { SealingError } from './sealing-error.js';

/** Whom a value is to be sealed to. */
export interface Readers {
  /** The objects' consumers, by name; each needs a public key. */
  readonly usedBy?: readonly string[] | undefined;
  /** The owner as well. */
  readonly keepReadableCopy?: boolean | undefined;
  /** Further public keys. */
  readonly recipients?: readonly string[] | undefined;
  /** Compares the keys that the service reports with the ones used before. Without it they are trusted. */
  readonly checkKeys?: CheckKeys | undefined;
}

/** The most that a page may hold. */
const PAGE_SIZE = 100;

/**
 * The public keys of the readers, each once, as the service has them now.
 *
 * @throws SealingError `no_key` that names those without one; ApiError when the service refuses; the error of `checkKeys`.
 */
export async function findRecipients(client: SecretsClient, readers: Readers): Promise<string[]> {
  const { usedBy = [], keepReadableCopy = false, recipients = [], checkKeys } = readers;
  const keys = await findConsumerKeys(client, [...new Set(usedBy)]);
  if (keepReadableCopy) keys.push({ consumer: undefined, publicKey: await requireOwnerKey(client) });
  await checkKeys?.(keys);
  const reported = keys.map(({ publicKey }) => publicKey);
  const all = [...new Set([...reported, ...recipients.map((recipient) => recipient.trim())])];
  if (all.length > 0) return all;
  throw new SealingError('no_key', 'Choose at least one recipient: a consumer, the owner or a public key.');
}

/** The owner's public key, if one is registered. */
export async function findOwnerKey(client: SecretsClient): Promise<string | undefined> {
  const { data, error, response } = await client.GET('/auth/identity');
  const refusal = decodeError(response, error);
  if (refusal) throw refusal;
  return data?.public_key;
}

async function requireOwnerKey(client: SecretsClient): Promise<string> {
  const key = await findOwnerKey(client);
  if (key !== undefined) return key;
  throw new SealingError('no_key', "Expected the owner's public key, for a readable copy; none is registered.");
}

async function findConsumerKeys(client: SecretsClient, names: readonly string[]): Promise<PartyKey[]> {
  const keys: PartyKey[] = [];
  const without: string[] = [];
  for (const name of names) {
    const key = await findConsumerKey(client, name);
    if (key === undefined) without.push(name);
    else keys.push({ consumer: name, publicKey: requireAgeKey(key, name) });
  }
  if (without.length === 0) return keys;
  throw new SealingError('no_key', `Expected a public key of every consumer; there is none of ${without.join(', ')}.`);
}

/** The service finds parts of names, in either case. */
async function findConsumerKey(client: SecretsClient, name: string): Promise<string | undefined> {
  for (let page = 1; ; page += 1) {
    const params = { query: { q: name, page, page_size: PAGE_SIZE } };
    const { data, error, response } = await client.GET('/consumers', { params });
    const refusal = decodeError(response, error);
    if (refusal) throw refusal;
    // With a parameter the answer is a page.
    if (data === undefined || !('consumers' in data)) return undefined;
    const found = data.consumers.find((consumer) => consumer.name === name);
    if (found || page * PAGE_SIZE >= data.total) return found?.public_key;
  }
}

function requireAgeKey(key: string, name: string): string {
  if (key.startsWith('age1')) return key;
  throw new SealingError('no_key', `Expected the public key of ${name} to be one of age (age1…); it is another kind.`);
}
