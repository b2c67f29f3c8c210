import '../style/cards.css';
import { useCallback } from 'preact/hooks';
import { toFingerprint } from '../../../sealing/ssh-signature.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { findReaders, type Reader, type ReaderState } from './find-readers.js';
import { linkToConsumer, type ObjectMetadata } from './names.js';
import { listAllConsumers } from './secrets.js';

const STATE_NAMES: Readonly<Record<ReaderState, string>> = {
  current: 'can read it',
  outdated: 'can’t read it: its key has changed since',
  'no-key': 'can’t read it: no public key',
  unknown: 'can read it: not the current key of a consumer',
};

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
