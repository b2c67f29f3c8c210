import { useMemo, useState } from 'preact/hooks';
import { Loaded } from '../shell/loaded.js';
import { Select } from '../shell/select.js';
import { toDay } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';
import { linkTo, listObjects } from './objects.js';
import type { ObjectMetadata } from './objects.js';
import { ResealAll } from './reseal-all.js';
import { VaultFrame } from './vault-frame.js';

interface ObjectFilter {
  readonly text: string;
  readonly tag: string;
  readonly consumer: string;
  readonly state: '' | 'due' | 'reseal';
}

const NO_FILTER: ObjectFilter = { text: '', tag: '', consumer: '', state: '' };

export function ObjectsPage() {
  const objects = useResource(listObjects);
  return (
    <VaultFrame title="Secrets">
      <p>
        <a class="button main" href="/vault/new">
          New secret
        </a>
      </p>
      <Loaded from={objects}>
        {(list) => (
          <>
            <ResealAll objects={list} onChange={objects.reload} />
            <Objects objects={list} />
          </>
        )}
      </Loaded>
    </VaultFrame>
  );
}

function Objects({ objects }: { readonly objects: readonly ObjectMetadata[] }) {
  const [filter, setFilter] = useState(NO_FILTER);
  const selected = useMemo(() => objects.filter((object) => isSelected(object, filter)), [objects, filter]);
  const change = (part: Partial<ObjectFilter>): void => setFilter({ ...filter, ...part });
  if (objects.length === 0) return <Welcome />;
  return (
    <>
      <form role="search" aria-label="Filter secrets" class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="selects">
          <label>
            Search names
            <input
              type="search"
              value={filter.text}
              onInput={({ currentTarget }) => change({ text: currentTarget.value })}
            />
          </label>
          <Select
            label="Tag"
            value={filter.tag}
            options={offer(objects.flatMap(({ tags }) => tags))}
            onValue={(tag) => change({ tag })}
          />
          <Select
            label="Consumer"
            value={filter.consumer}
            options={offer(objects.flatMap(({ used_by = [] }) => used_by))}
            onValue={(consumer) => change({ consumer })}
          />
          <Select label="State" value={filter.state} options={STATES} onValue={(state) => change({ state })} />
        </div>
      </form>
      <p class="quiet" role="status">
        {selected.length} of {objects.length} shown
      </p>
      <ul class="things">
        {selected.map((object) => (
          <li key={object.id}>
            <ObjectRow object={object} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What to do first, for whoever comes to an empty place. */
function Welcome() {
  return (
    <div class="prose">
      <p>Nothing is kept here yet. To begin:</p>
      <ol>
        <li>
          <a href="/vault/identity">Make your identity</a>, if you want to read secrets yourself.
        </li>
        <li>
          <a href="/vault/consumers">Add the repositories and hosts</a> that need secrets, with their public keys.
        </li>
        <li>
          <a href="/vault/new">Store the first secret</a>. It is sealed in this browser; the server can’t open it.
        </li>
      </ol>
    </div>
  );
}

function ObjectRow({ object }: { readonly object: ObjectMetadata }) {
  const { slug, description, tags, used_by = [], updated_at, rotation_due, reseal } = object;
  return (
    <div>
      <a href={linkTo(object)}>{slug}</a>{' '}
      {tags.map((tag) => (
        <span key={tag} class="chip">
          {tag}
        </span>
      ))}{' '}
      {rotation_due && <span class="chip bad">due for rotation</span>}{' '}
      {reseal && <span class="chip bad">to be sealed anew</span>}
      <small>
        {description}
        {description === undefined ? '' : ' · '}
        {used_by.length === 0 ? 'no consumers' : used_by.join(', ')}
        {updated_at && ` · since ${toDay(updated_at)}`}
      </small>
    </div>
  );
}

const STATES: readonly (readonly [ObjectFilter['state'], string])[] = [
  ['', 'All'],
  ['due', 'due for rotation'],
  ['reseal', 'to be sealed anew'],
];

const offer = (values: readonly string[]): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(values)].sort((a, b) => a.localeCompare(b)).map((value) => [value, value] as const),
];

function isSelected(object: ObjectMetadata, { text, tag, consumer, state }: ObjectFilter): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    (wanted === '' || object.slug.toLowerCase().includes(wanted)) &&
    (tag === '' || object.tags.includes(tag)) &&
    (consumer === '' || (object.used_by ?? []).includes(consumer)) &&
    (state === '' || (state === 'due' ? object.rotation_due === true : object.reseal !== undefined))
  );
}
