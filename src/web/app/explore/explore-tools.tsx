import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { ActionButton } from '../shell/action-button.js';
import { Select } from '../shell/select.js';
import { linkTo, MAX_SEARCH } from './place.js';
import type { Place } from './place.js';

interface ExploreToolsProps {
  readonly place: Place;
  readonly onRefresh: () => Promise<void>;
}

/** Waits for the user to stop typing, so that not every letter starts a search. */
const SEARCH_DELAY_MS = 300;

const ORDERS = [
  ['name ASC', 'Name, A to Z'],
  ['name DESC', 'Name, Z to A'],
  ['time DESC', 'Newest first'],
  ['time ASC', 'Oldest first'],
  ['size DESC', 'Largest first'],
  ['size ASC', 'Smallest first'],
] as const;

const VIEWS = [
  ['pictures', 'Thumbnails'],
  ['list', 'List'],
] as const;

/** The search, sort order and view of the file list. */
export function ExploreTools({ place, onRefresh }: ExploreToolsProps) {
  const { route } = useLocation();
  const go = (change: Partial<Place>): void => route(linkTo({ ...place, page: 1, ...change }), true);
  return (
    <form role="search" aria-label="Files" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <Search key={`${place.source}/${place.folder}`} search={place.search} onSearch={(search) => go({ search })} />
        <Select
          label="Sort by"
          value={`${place.sort} ${place.order}`}
          options={ORDERS}
          onValue={(value) => go(toOrder(value))}
        />
        <Select label="View" value={place.view} options={VIEWS} onValue={(view) => go({ view, page: place.page })} />
        <ActionButton onAct={onRefresh}>Reload</ActionButton>
      </div>
    </form>
  );
}

function toOrder(value: (typeof ORDERS)[number][0]): Pick<Place, 'order' | 'sort'> {
  const [sort, order] = value.split(' ') as [Place['sort'], Place['order']];
  return { sort, order };
}

interface SearchProps {
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

function Search({ search, onSearch }: SearchProps) {
  const [text, setText] = useState(search);
  const searched = text.trim();
  useEffect(() => {
    if (searched === search) return;
    const timer = setTimeout(() => onSearch(searched), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  });
  return (
    <label>
      Search names
      <input
        type="search"
        maxLength={MAX_SEARCH}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}
