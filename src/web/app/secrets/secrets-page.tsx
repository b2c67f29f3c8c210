import { useSignal } from '@preact/signals';
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { keepInEntry, parseAddressState, type Query, readEntryState, useAddress } from '../ui/address.js';
import { Field, Select } from '../ui/form.js';
import { AsyncContent, EmptyState, useResource } from '../ui/resource.js';
import { formatDate, serverNow } from '../ui/times.js';
import { DueWork, ResealAll } from './due-work.js';
import { linkToConsumer, linkToSecret, type ObjectMetadata, sortByDue, toFilterOptions } from './metadata.js';
import { SecretsLayout } from './secrets-layout.js';
import { listAllSecrets, loadOwnPublicKey } from './secrets.js';

/** A longer list is hard to scan and slow to render. Filters find the other rows, and a button shows them. */
const PAGE_SIZE = 100;

export function SecretsPage() {
  const objects = useResource(listAllSecrets);
  return (
    <SecretsLayout
      title="Secrets"
      actions={
        <>
          <a class="button" href="/vault/import">
            Import a .env file
          </a>
          <a class="button main" href="/vault/new">
            New secret
          </a>
        </>
      }
    >
      <AsyncContent from={objects}>
        {(list) => (
          <>
            <DueWork objects={list} />
            <ResealAll objects={list} onChange={objects.reload} />
            {list.length === 0 ? <Welcome /> : <Objects objects={list} />}
          </>
        )}
      </AsyncContent>
    </SecretsLayout>
  );
}

function Objects({ objects }: { readonly objects: readonly ObjectMetadata[] }) {
  const state = useSignal(NO_SECRET_FILTER);
  const filter = state.value;
  const [limit, setLimit] = useState(readEntryState().shown ?? PAGE_SIZE);
  useAddress(state, NO_SECRET_FILTER, readSecretFilter);
  const own = useResource(loadOwnPublicKey);
  const sorted = useMemo(() => sortByDue(objects, serverNow()), [objects]);
  const selected = useMemo(() => sorted.filter((object) => matchesSecretFilter(object, filter)), [sorted, filter]);
  const setFilter = (next: SecretFilter): void => void (state.value = next);
  const change = (part: Partial<SecretFilter>): void => setFilter({ ...filter, ...part });
  const showMore = (): void => {
    keepInEntry({ shown: limit + PAGE_SIZE });
    setLimit(limit + PAGE_SIZE);
  };
  return (
    <>
      <ObjectFilters objects={objects} filter={filter} onFilter={setFilter} />
      <p class="quiet" role="status">
        {selected.length} of {objects.length} shown
      </p>
      <ul class="things">
        {selected.slice(0, limit).map((object) => (
          <li key={object.id}>
            <SecretRow object={object} ownKey={own.value?.key} onTag={(clicked) => change({ tag: clicked })} />
          </li>
        ))}
      </ul>
      {selected.length > limit && (
        <button type="button" onClick={showMore}>
          Show {Math.min(PAGE_SIZE, selected.length - limit)} more
        </button>
      )}
    </>
  );
}

interface ObjectFiltersProps {
  readonly objects: readonly ObjectMetadata[];
  readonly filter: SecretFilter;
  readonly onFilter: (filter: SecretFilter) => void;
}

function ObjectFilters({ objects, filter, onFilter }: ObjectFiltersProps) {
  const change = (part: Partial<SecretFilter>): void => onFilter({ ...filter, ...part });
  const isAll = Object.values(filter).every((value) => value === '');
  const tags = useMemo(() => objects.flatMap((object) => object.tags), [objects]);
  const consumers = useMemo(() => objects.flatMap(({ used_by = [] }) => used_by), [objects]);
  return (
    <form role="search" aria-label="Filter secrets" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <label class="search">
          Search names and descriptions
          <input
            type="search"
            value={filter.text}
            onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        </label>
        <Select
          label="Tag"
          value={filter.tag}
          options={toFilterOptions(tags, filter.tag)}
          onValue={(tag) => change({ tag })}
        />
        <Select
          label="Consumer"
          value={filter.consumer}
          options={toFilterOptions(consumers, filter.consumer)}
          onValue={(consumer) => change({ consumer })}
        />
        <Select label="State" value={filter.state} options={SECRET_STATES} onValue={(state) => change({ state })} />
        <button type="button" aria-disabled={isAll} onClick={() => onFilter(NO_SECRET_FILTER)}>
          Clear
        </button>
      </div>
    </form>
  );
}

/** The next step, shown while there are no secrets. */
function Welcome() {
  return (
    <EmptyState
      icon="lock"
      text={
        <>
          No secrets yet. The first one is encrypted in this browser, and the server can’t read it. Your key, and the
          key and the token of a program that reads the secret, are created in the same form. Hosts that have a key
          already are added under <a href="/vault/consumers">Consumers</a>.
        </>
      }
      next={
        <a class="button main" href="/vault/new">
          Create the first secret
        </a>
      }
    />
  );
}

interface SecretFilter {
  readonly text: string;
  readonly tag: string;
  readonly consumer: string;
  readonly state: '' | 'due' | 'reseal' | 'unused';
}

const NO_SECRET_FILTER: SecretFilter = { text: '', tag: '', consumer: '', state: '' };

const SECRET_STATES: readonly (readonly [SecretFilter['state'], string])[] = [
  ['', 'All'],
  ['due', 'Due for rotation'],
  ['reseal', 'Needs re-encryption'],
  ['unused', 'Without consumers'],
];

const HAS_STATE: Readonly<Record<SecretFilter['state'], (object: ObjectMetadata) => boolean>> = {
  '': () => true,
  due: ({ rotation_due }) => rotation_due === true,
  reseal: ({ reseal }) => reseal !== undefined,
  unused: ({ used_by = [] }) => used_by.length === 0,
};

/** Reads the filter of a query string. A state that this release does not know is replaced by the default. */
function readSecretFilter(query: Query): SecretFilter | undefined {
  const found = parseAddressState(query, NO_SECRET_FILTER);
  return found && { ...found, state: Object.hasOwn(HAS_STATE, found.state) ? found.state : '' };
}

function matchesSecretFilter(object: ObjectMetadata, { text, tag, consumer, state }: SecretFilter): boolean {
  const searched = text.trim().toLowerCase();
  return (
    (searched === '' ||
      [object.slug, object.description ?? ''].some((part) => part.toLowerCase().includes(searched))) &&
    (tag === '' || object.tags.includes(tag)) &&
    (consumer === '' || (object.used_by ?? []).includes(consumer)) &&
    HAS_STATE[state](object)
  );
}

/** More names would wrap to several lines, which makes the list hard to scan. */
const SHOWN_CONSUMERS = 2;

interface ObjectRowProps {
  /** The owner's public key; `undefined` when the owner has no identity, or while it loads. */
  readonly ownKey: string | undefined;
  readonly object: ObjectMetadata;
  readonly onTag: (tag: string) => void;
}

/** A secret in the list of secrets. */
function SecretRow({ object, ownKey, onTag }: ObjectRowProps) {
  const { slug, description, tags, used_by = [], updated_at, rotation_due, reseal } = object;
  const isOwn = ownKey !== undefined && object.recipients?.includes(ownKey) === true;
  const readers = [...(isOwn ? ['you'] : []), ...used_by.slice(0, SHOWN_CONSUMERS)];
  const rest = used_by.length - SHOWN_CONSUMERS;
  return (
    <div class="object">
      <div>
        <p>
          <a href={linkToSecret(object)}>{slug}</a>
          {tags.map((tag) => (
            <button
              key={tag}
              type="button"
              class="chip"
              aria-label={`Show only secrets tagged ${tag}`}
              onClick={() => onTag(tag)}
            >
              {tag}
            </button>
          ))}
          {rotation_due && <span class="chip bad">due for rotation</span>}
          {reseal && <span class="chip bad">needs re-encryption</span>}
        </p>
        {description !== undefined && <p class="quiet">{description}</p>}
      </div>
      <div class="quiet">
        {readers.length === 0 ? 'No consumers' : `Readable by ${readers.join(', ')}`}
        {rest > 0 && <AllConsumers slug={slug} names={used_by} rest={rest} />}
      </div>
      <p class="quiet">{updated_at && `Updated ${formatDate(updated_at)}`}</p>
    </div>
  );
}

interface AllConsumersProps {
  readonly slug: string;
  readonly names: readonly string[];
  /** The number of consumers that the row doesn't show. */
  readonly rest: number;
}

/** A button with a dialog that lists all consumers of a secret, searchable by a part of the name. */
function AllConsumers({ slug, names, rest }: AllConsumersProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const searched = text.trim().toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(searched));
  return (
    <>
      {' '}
      <button
        type="button"
        class="chip"
        aria-haspopup="dialog"
        aria-label={`+${rest} more consumers of ${slug}`}
        onClick={() => dialog.current?.showModal()}
      >
        +{rest} more
      </button>
      <dialog ref={dialog} aria-labelledby={id} onClose={() => setText('')}>
        <h2 id={id}>Consumers of {slug}</h2>
        <Field label="Search consumers" type="search" value={text} onValue={setText} />
        <p class="quiet" role="status">
          {found.length} of {names.length} shown
        </p>
        <ul class="plain-list">
          {found.map((name) => (
            <li key={name}>
              <a href={linkToConsumer(name)} onClick={() => dialog.current?.close()}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}
