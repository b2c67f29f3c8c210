import { useState } from 'preact/hooks';
import { boardOwner } from './board-store.js';
import { Pager, usePage } from './pages.js';
import { NO_REPOSITORY_FILTER, REPOSITORY_KINDS, REPOSITORY_SORTS, selectRepositories } from './repository-filter.js';
import type { Repository, RepositoryFilter } from './repository-filter.js';
import { RepositoryBulk } from './repository-bulk.js';
import { RepositoryRow } from './repository-row.js';
import { FORGE_NAMES, formatRepositoryName } from './rows.js';
import { Select } from '../ui/select.js';

const PAGE_SIZE = 50;

/** The filtered list of repositories with its bulk actions. */
export function RepositoryList({ repositories }: { readonly repositories: readonly Repository[] }) {
  const [filter, setFilter] = useState(NO_REPOSITORY_FILTER);
  const found = selectRepositories(repositories, filter);
  const paged = usePage(found, PAGE_SIZE, JSON.stringify(filter));
  const isReadOnly = boardOwner.value !== '';
  return (
    <>
      <Filters filter={filter} onFilter={(change) => setFilter({ ...filter, ...change })} />
      <p class="quiet" role="status">
        {found.length} of {repositories.length} match
      </p>
      {!isReadOnly && <RepositoryBulk repositories={found} />}
      <ul class="pulls repositories">
        {paged.rows.map((one) => (
          <RepositoryRow key={formatRepositoryName(one)} repository={one} isReadOnly={isReadOnly} />
        ))}
      </ul>
      <Pager {...paged} />
    </>
  );
}

interface FiltersProps {
  readonly filter: RepositoryFilter;
  readonly onFilter: (change: Partial<RepositoryFilter>) => void;
}

const FORGES = [['', 'All'] as const, ...Object.entries(FORGE_NAMES)];

function Filters({ filter, onFilter }: FiltersProps) {
  return (
    <form role="search" aria-label="Filter repositories" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <label class="search">
          Search names
          <input
            type="search"
            maxLength={255}
            value={filter.text}
            onInput={({ currentTarget }) => onFilter({ text: currentTarget.value })}
          />
        </label>
        <Select label="Code host" value={filter.forge} options={FORGES} onValue={(forge) => onFilter({ forge })} />
        <Select label="Show" value={filter.shown} options={REPOSITORY_KINDS} onValue={(shown) => onFilter({ shown })} />
        <Select label="Sort by" value={filter.sort} options={REPOSITORY_SORTS} onValue={(sort) => onFilter({ sort })} />
      </div>
    </form>
  );
}
