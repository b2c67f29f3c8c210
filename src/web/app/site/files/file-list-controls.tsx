import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { ActionButton } from '../../ui/buttons.js';
import { Select } from '../../ui/fields.js';
import { linkToLocation, MAX_SEARCH_LENGTH, type SiteLocation } from '../site-location.js';

interface ExploreToolsProps {
  readonly place: SiteLocation;
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
export function FileListControls({ place, onRefresh }: ExploreToolsProps) {
  const { route } = useLocation();
  const go = (change: Partial<SiteLocation>): void => route(linkToLocation({ ...place, page: 1, ...change }), true);
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

function toOrder(value: (typeof ORDERS)[number][0]): Pick<SiteLocation, 'order' | 'sort'> {
  const [sort, order] = value.split(' ') as [SiteLocation['sort'], SiteLocation['order']];
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
        maxLength={MAX_SEARCH_LENGTH}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}
