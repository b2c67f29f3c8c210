import '../style/cards.css';
import type { ComponentChildren } from 'preact';
import { useLocation, useRoute } from 'preact-iso';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { toFingerprint } from '../../../sealing/ssh-signature.js';
import { ConfirmButton } from '../ui/buttons.js';
import { Field, Form, Select } from '../ui/form.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { formatActor } from './audit-entries.js';
import { type UnlockedIdentity, useUnlockedIdentity } from './identity/unlock.js';
import {
  type ConsumerEntry,
  findReaders,
  linkToConsumer,
  linkToSecret,
  linkToTag,
  type ObjectMetadata,
  type Reader,
  type ReaderState,
  SLUG_PATTERN,
  toFilterOptions,
} from './metadata.js';
import { ReplaceValue, RevealValue, SecretHistory } from './secret-value.js';
import { SecretsLayout } from './secrets-layout.js';
import { listAllConsumers, listVariants, loadOwnPublicKey, locateSecret, secretsClient } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';
import { SignedBy } from './signatures/signed-by.js';

export function SecretPage() {
  const { slug = '' } = useRoute().params;
  const load = useCallback(async () => ({ slug, list: await listVariants(slug) }), [slug]);
  const variants = useResource(load);
  // While a different secret loads, the buttons below its name would change the previous one.
  const isPrevious = variants.value !== undefined && variants.value.slug !== slug;
  const listConsumers = useMemo(() => shareCalls(listAllConsumers), [variants.value]);
  const unlocked = useUnlockedIdentity();
  const own = useResource(loadOwnPublicKey);
  const { route } = useLocation();
  const leave = async (): Promise<void> => route('/vault', true);
  return (
    <SecretsLayout title={slug}>
      <AsyncContent from={isPrevious ? { ...variants, value: undefined } : variants}>
        {({ list }) => (
          <>
            {list.length === 0 && (
              <p>
                No secret with this name. <a href="/vault">All secrets</a>
              </p>
            )}
            {list.length > 1 && (
              <p class="quiet">{list.length} variants share this name, each for different consumers.</p>
            )}
            <Variants
              objects={list}
              show={(object) => (
                <Variant
                  key={object.id}
                  object={object}
                  ownKey={own.value?.key}
                  listConsumers={listConsumers}
                  unlocked={unlocked}
                  onChange={variants.reload}
                  onDeleted={list.length > 1 ? variants.reload : leave}
                />
              )}
            />
          </>
        )}
      </AsyncContent>
    </SecretsLayout>
  );
}

/** Returns a function whose calls have the same result, unless it failed. */
function shareCalls<T>(load: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () =>
    (result ??= load().catch((error: unknown) => {
      result = undefined;
      throw error;
    }));
}

/** Each variant loads its history, so a page of all could exceed the rate limit. */
const PAGE_SIZE = 10;

interface VariantsProps {
  readonly objects: readonly ObjectMetadata[];
  readonly show: (object: ObjectMetadata) => ComponentChildren;
}

/** The first variants of a secret, of which a longer list is filtered by consumer. */
function Variants({ objects, show }: VariantsProps) {
  const [chosen, setChosen] = useState('');
  const [limit, setLimit] = useState(PAGE_SIZE);
  const consumers = objects.flatMap(({ used_by: names = [] }) => names);
  // Its variant may have been deleted.
  const consumer = consumers.includes(chosen) ? chosen : '';
  const found = objects.filter(({ used_by: names = [] }) => consumer === '' || names.includes(consumer));
  return (
    <>
      {objects.length > PAGE_SIZE && (
        <div class="filters">
          <Select
            label="Consumer"
            value={consumer}
            options={toFilterOptions(consumers, consumer)}
            onValue={setChosen}
          />
          <p class="quiet" role="status">
            {Math.min(limit, found.length)} of {objects.length} shown
          </p>
        </div>
      )}
      {found.slice(0, limit).map(show)}
      {found.length > limit && (
        <button type="button" onClick={() => setLimit(limit + PAGE_SIZE)}>
          Show {Math.min(PAGE_SIZE, found.length - limit)} more
        </button>
      )}
    </>
  );
}

interface VariantProps {
  readonly object: ObjectMetadata;
  /** The owner's public key; `undefined` when the owner has no identity, or while it loads. */
  readonly ownKey: string | undefined;
  readonly listConsumers: () => Promise<readonly ConsumerEntry[]>;
  readonly unlocked: UnlockedIdentity;
  readonly onChange: () => Promise<void>;
  readonly onDeleted: () => Promise<void>;
}

/** One variant of a secret, with its metadata, actions and history. */
function Variant({ object, ownKey, listConsumers, unlocked, onChange, onDeleted }: VariantProps) {
  const { used_by = [], recipients, reseal } = object;
  const isReadable = ownKey === undefined ? undefined : recipients?.includes(ownKey);
  return (
    <section
      class="variant"
      aria-label={used_by.length === 0 ? 'Variant without consumers' : `Variant for ${used_by.join(', ')}`}
    >
      {reseal && (
        <p class="notes" role="status">
          This value is encrypted to outdated keys{reseal.missing ? ` (missing: ${reseal.missing.join(', ')})` : ''}.
          Re-encrypt or replace it.
        </p>
      )}
      <div>
        <RevealValue object={object} isReadable={isReadable} unlocked={unlocked} onChange={onChange} />
        <ReplaceValue object={object} wasReadable={isReadable} onChange={onChange} />
        <Readers {...{ object, ownKey, listConsumers }} />
        <SecretActions object={object} onChange={onChange} onDeleted={onDeleted} />
        <SecretHistory object={object} onChange={onChange} />
      </div>
      <SecretDetails object={object} isReadable={isReadable} onChange={onChange} />
    </section>
  );
}

interface FactsProps {
  readonly object: ObjectMetadata;
  /** Whether the owner is a recipient; `undefined` when the recipients are not recorded. */
  readonly isReadable: boolean | undefined;
  readonly onChange: () => Promise<void>;
}

/** The metadata of a secret. */
function SecretDetails({ object, isReadable, onChange }: FactsProps) {
  const { description, tags, used_by = [], recipients, created_at, created_by, updated_at, updated_by } = object;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Description', description],
    // With recorded recipients, a table below names the readers.
    ['Consumers', recipients ? undefined : used_by.length === 0 ? 'None' : links(used_by, linkToConsumer)],
    ['Tags', tags.length === 0 ? 'None' : links(tags, linkToTag)],
    ['Readable by', describeReaders(object, isReadable)],
    ['Created', created_at && `${formatDateTime(created_at)} by ${formatActor(created_by?.type, created_by?.id)}`],
    ['Value set', updated_at && `${formatDateTime(updated_at)} by ${formatActor(updated_by?.type, updated_by?.id)}`],
    ['Signature', <SignedBy object={object} onChange={onChange} />],
    ['Rotation', describeRotation(object)],
    ['ID', object.id],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function links(names: readonly string[], link: (name: string) => string): ComponentChildren {
  return names.map((name, index) => (
    <>
      {index > 0 && ', '}
      <a href={link(name)}>{name}</a>
    </>
  ));
}

function describeReaders({ recipient_count: count }: ObjectMetadata, isReadable: boolean | undefined): string {
  const keys = count === 1 ? 'One key' : `${count} keys`;
  if (isReadable === undefined) return keys;
  if (count === 1) return isReadable ? 'Only your key' : 'One key, not yours';
  return `${keys}, ${isReadable ? 'including yours' : 'not including yours'}`;
}

function describeRotation({ rotate_after_days: days, rotation_due_at: due, rotation_due }: ObjectMetadata): string {
  if (days === undefined || due === undefined) return 'Not scheduled';
  const cycle = days === 1 ? 'Every day' : `Every ${days} days`;
  return `${cycle}, ${rotation_due === true ? 'due since' : 'due on'} ${formatDateTime(due)}`;
}

interface ObjectActionsProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
  readonly onDeleted: () => Promise<void>;
}

function SecretActions({ object, onChange, onDeleted }: ObjectActionsProps) {
  const { route } = useLocation();
  const [name, setName] = useState(object.slug);
  const params = locateSecret(object);
  const rename = async (): Promise<void> => {
    const slug = name.trim();
    const { renameSecret } = await loadStoredValues();
    await renameSecret(object, slug);
    showToast(`“${object.slug}” renamed to “${slug}”.`);
    route(linkToSecret({ slug }), true);
  };
  const remove = async (): Promise<void> => {
    await changeEntry(onChange, secretsClient.DELETE('/objects/{slug}', { params }));
    await onDeleted();
    showToast(`Secret “${object.slug}” deleted.`);
  };
  return (
    <>
      <details class="fold">
        <summary>Rename</summary>
        <Form verb="Rename" onSave={rename}>
          <Field label="New name" required maxLength={128} pattern={SLUG_PATTERN} value={name} onValue={setName} />
        </Form>
      </details>
      <div class="row wrapping">
        <a
          class="button"
          href={`/secrets/objects/${encodeURIComponent(object.slug)}?id=${object.id}`}
          download={`${object.slug}.age`}
        >
          Download encrypted
        </a>
        <ConfirmButton class="danger" label={`Delete ${object.slug}`} question="Delete permanently" onAct={remove}>
          Delete
        </ConfirmButton>
      </div>
    </>
  );
}

const STATE_NAMES: Readonly<Record<ReaderState, string>> = {
  current: 'can read it',
  outdated: 'can’t read it: its key has changed since',
  'no-key': 'can’t read it: no public key',
  unknown: 'can read it: not the current key of a consumer',
};

interface ReadersProps {
  readonly object: ObjectMetadata;
  readonly ownKey: string | undefined;
  readonly listConsumers: () => Promise<readonly ConsumerEntry[]>;
}

/** The parties that can read a value, with the fingerprints of their keys. */
function Readers({ object, ownKey, listConsumers }: ReadersProps) {
  const load = useCallback(async () => {
    if (object.recipients === undefined) return [];
    const readers = findReaders(object, ownKey, (object.used_by ?? []).length === 0 ? [] : await listConsumers());
    return Promise.all(
      readers.map(async (reader) =>
        reader.key === undefined ? reader : { ...reader, fingerprint: await toFingerprint(reader.key) },
      ),
    );
  }, [object, ownKey, listConsumers]);
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
