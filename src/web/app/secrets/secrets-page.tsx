import { useSignal } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import { keepInEntry, parseAddressState, type Query, readEntryState, useAddress } from '../ui/address.js';
import { Select } from '../ui/form.js';
import { AsyncContent, EmptyState, useResource } from '../ui/resource.js';
import { serverNow } from '../ui/times.js';
import { DueWork } from './due.js';
import { sortByDue } from './find-due.js';
import type { ObjectMetadata } from './names.js';
import { loadOwnPublicKey } from './recipients.js';
import { ResealAll } from './reseal-all.js';
import { SecretRow } from './secret-row.js';
import { SecretsLayout } from './secrets-layout.js';
import { listAllSecrets } from './secrets.js';

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

/** Returns the options of a filter in alphabetical order. The chosen value stays an option when no secret has it. */
const toFilterOptions = (values: readonly string[], chosen: string): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(chosen === '' ? values : [...values, chosen])]
    .sort((a, b) => a.localeCompare(b))
    .map((value) => [value, value] as const),
];
