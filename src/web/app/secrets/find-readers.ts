import type { ConsumerEntry, ObjectMetadata } from './names.js';

export type ReaderState = 'current' | 'outdated' | 'no-key' | 'unknown';

/** A party that can read a value, or should be able to. */
export interface Reader {
  /** Omitted for a key that belongs to no consumer of the secret. */
  readonly name?: string;
  readonly isConsumer: boolean;
  readonly key?: string;
  readonly fingerprint?: string;
  readonly state: ReaderState;
}

/** Lists the keys that a value is encrypted to and the consumers that should be able to read it. */
export function findReaders(
  { used_by: usedBy = [], recipients = [] }: Pick<ObjectMetadata, 'recipients' | 'used_by'>,
  ownKey: string | undefined,
  consumers: readonly ConsumerEntry[],
): readonly Reader[] {
  const known = new Map(consumers.map(({ name, public_key: key }) => [name, key]));
  const named = usedBy.map((name): Reader => {
    const key = known.get(name);
    if (key === undefined) return { name, isConsumer: true, state: 'no-key' };
    return { name, isConsumer: true, key, state: recipients.includes(key) ? 'current' : 'outdated' };
  });
  const isOwn = ownKey !== undefined && recipients.includes(ownKey);
  const own: Reader[] = isOwn ? [{ name: 'You', isConsumer: false, key: ownKey, state: 'current' }] : [];
  const listed = new Set([...own, ...named].map(({ key }) => key));
  const others = recipients.filter((key) => !listed.has(key));
  return [...own, ...named, ...others.map((key): Reader => ({ isConsumer: false, key, state: 'unknown' }))];
}
