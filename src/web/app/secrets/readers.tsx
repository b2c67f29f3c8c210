import '../style/cards.css';
import { useCallback } from 'preact/hooks';
import { toFingerprint } from '../../../sealing/known-keys.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { type ConsumerEntry, linkToConsumer, listAllConsumers, type ObjectMetadata } from './secrets.js';

type ReaderState = 'current' | 'outdated' | 'no-key' | 'unknown';

const STATE_NAMES: Readonly<Record<ReaderState, string>> = {
  current: 'can read it',
  outdated: 'can’t read it: its key has changed since',
  'no-key': 'can’t read it: no public key',
  unknown: 'can read it: not the current key of a consumer',
};

interface Reader {
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

interface ReadersProps {
  readonly object: ObjectMetadata;
  readonly ownKey: string | undefined;
}

/** The parties that can read a value, with the fingerprints of their keys. */
export function Readers({ object, ownKey }: ReadersProps) {
  const load = useCallback(async () => {
    const readers = findReaders(object, ownKey, (object.used_by ?? []).length === 0 ? [] : await listAllConsumers());
    return Promise.all(
      readers.map(async (reader) =>
        reader.key === undefined ? reader : { ...reader, fingerprint: await toFingerprint(reader.key) },
      ),
    );
  }, [object, ownKey]);
  const readers = useResource(load);
  if (object.recipients === undefined) return null;
  return (
    <section class="readers" aria-label="Readers">
      <h2>Who can read it</h2>
      <AsyncContent from={readers}>
        {(list) => (
          <table class="cards" aria-label="Readers">
            <TableHead names={['Reader', 'State', 'Key fingerprint']} />
            <tbody>
              {list.map((reader, index) => (
                <tr key={reader.name ?? index}>
                  <td data-name="Reader">
                    <ReaderName {...reader} />
                  </td>
                  <td data-name="State">
                    <span class={reader.state === 'current' ? 'good' : 'bad'}>{STATE_NAMES[reader.state]}</span>
                  </td>
                  <td data-name="Key">
                    {reader.fingerprint === undefined ? 'none' : <code class="key">{reader.fingerprint}</code>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </AsyncContent>
    </section>
  );
}

function ReaderName({ name, isConsumer }: Reader) {
  if (name === undefined) return <>Other key</>;
  return isConsumer ? <a href={linkToConsumer(name)}>{name}</a> : <strong>{name}</strong>;
}
