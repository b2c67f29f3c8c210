import { SealingError } from './sealing-error.js';

/** The public key that the service reports for a party: a consumer by name, or the owner. */
export interface PartyKey {
  /** The consumer's name; `undefined` for the owner of the secrets. */
  readonly consumer: string | undefined;
  readonly publicKey: string;
}

/** The kinds of public keys that need no other program, by the prefix of their text. */
const OWN_KINDS: ReadonlySet<string> = new Set(['age', 'age1pq', 'age1tag', 'age1tagpq']);

/** Reports whether only the program `age` can seal to a public key: an SSH key, or that of a plugin such as `age1yubikey1…`. */
export const needsAgeProgram = (recipient: string): boolean =>
  recipient.startsWith('ssh-') || !OWN_KINDS.has(recipient.slice(0, recipient.lastIndexOf('1')));

/** Receives the keys that the service reports, before anything is encrypted to them; throws to stop. */
export type CheckKeys = (keys: readonly PartyKey[]) => Promise<void>;

/** The public keys of one service that this machine or browser has used before. */
export interface KnownKeys {
  /** Keyed by the name of the consumer. */
  readonly consumers: Readonly<Record<string, string>>;
  readonly owner?: string;
  /** Additional recipients that the user chose. */
  readonly recipients: readonly string[];
  /**
   * The names that each writer is trusted to sign, by its public key (`ssh-ed25519 AAAA…`). `prod-*` stands for all names
   * that begin with `prod-`.
   */
  readonly writers?: Readonly<Record<string, readonly string[]>>;
}

export const NO_KNOWN_KEYS: KnownKeys = { consumers: {}, recipients: [] };

/** A key that differs from the one used before. */
export interface KeyChange extends PartyKey {
  /** The key used before; `undefined` where only a list of recorded recipients lacks the new one. */
  readonly knownKey: string | undefined;
}

interface Comparison {
  readonly known: KnownKeys;
  /** The recorded recipients of the value that is replaced; empty for a new value. */
  readonly recordedRecipients?: readonly string[];
  /** The consumers that the replaced value was encrypted for. */
  readonly previousConsumers?: readonly string[];
}

/**
 * Returns the keys that differ from the ones used before, in the order given. A key counts as
 * changed when a different one is known for the party, or when none is known and the replaced value
 * was encrypted for the party, but not to this key. The first key of a party is trusted, as `ssh`
 * trusts the first key of a host.
 */
export function findKeyChanges(keys: readonly PartyKey[], comparison: Comparison): KeyChange[] {
  const { known, recordedRecipients = [], previousConsumers = [] } = comparison;
  return keys.flatMap(({ consumer, publicKey }) => {
    const knownKey = findKnownKey(known, consumer);
    if (knownKey === publicKey) return [];
    const wasRecipient = consumer === undefined || previousConsumers.includes(consumer);
    const isUnrecorded = recordedRecipients.length > 0 && !recordedRecipients.includes(publicKey);
    // The owner may be added as a recipient of a value that had no readable copy.
    const isReplaced = consumer !== undefined && wasRecipient && isUnrecorded;
    return knownKey !== undefined || isReplaced ? [{ consumer, publicKey, knownKey }] : [];
  });
}

function findKnownKey({ consumers, owner }: KnownKeys, consumer: string | undefined): string | undefined {
  if (consumer === undefined) return owner;
  return Object.hasOwn(consumers, consumer) ? consumers[consumer] : undefined;
}

/** Returns the known keys, with these keys in place of earlier ones of the same parties. */
export function addKnownKeys(known: KnownKeys, keys: readonly PartyKey[]): KnownKeys {
  const named = keys.flatMap(({ consumer, publicKey }) => (consumer === undefined ? [] : [[consumer, publicKey]]));
  const owner = keys.find(({ consumer }) => consumer === undefined)?.publicKey ?? known.owner;
  // `fromEntries` defines members, so that a consumer may be called `__proto__`.
  const consumers = Object.fromEntries([...Object.entries(known.consumers), ...named]) as Record<string, string>;
  return { ...known, consumers, owner };
}

/** Returns the error for changed keys. Its message lists the previous and the current key of each party. */
export function keyChangedError(changes: readonly KeyChange[]): SealingError {
  const blocks = changes.map(({ consumer, publicKey, knownKey }) => {
    const party = consumer === undefined ? 'The public key of the owner' : `The public key of ${consumer}`;
    return knownKey === undefined
      ? `${party} is not one that the value was encrypted to:\n  now:    ${publicKey}`
      : `${party} has changed:\n  before: ${knownKey}\n  now:    ${publicKey}`;
  });
  return new SealingError('key_changed', `${blocks.join('\n')}\nNothing was encrypted.`);
}
