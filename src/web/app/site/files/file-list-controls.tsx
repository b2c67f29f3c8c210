import { useLocation } from 'preact-iso';
import { ActionButton } from '../../ui/buttons.js';
import { Select } from '../../ui/form.js';
import { SearchField } from '../search-field.js';
import { linkToLocation, MAX_SEARCH_LENGTH, type SiteLocation } from '../site-location.js';

interface ExploreToolsProps {
  readonly place: SiteLocation;
  readonly onRefresh: () => Promise<void>;
}

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
        <SearchField
          key={`${place.source}/${place.folder}`}
          label="Search names"
          maxLength={MAX_SEARCH_LENGTH}
          search={place.search}
          onSearch={(search) => go({ search })}
        />
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
