import { parseAddressState, type Query } from '../../ui/address.js';
import { type ActiveFilter, ActiveFilters, FoldedFilters } from '../../ui/filters.js';
import { Select } from '../../ui/form.js';
import { FORGE_NAMES, formatRepositoryName, type Repository } from '../data/rows.js';

interface FiltersProps {
  readonly filter: RepositoryFilter;
  readonly onFilter: (change: Partial<RepositoryFilter>) => unknown;
}

const FORGES = [['', 'All'] as const, ...Object.entries(FORGE_NAMES)];

export function RepositoryFilters({ filter, onFilter }: FiltersProps) {
  const active = listActiveFilters({ filter, onFilter });
  return (
    <form role="search" aria-label="Filter repositories" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects folding">
        <label class="search">
          <span class="aside">Search names</span>
          <input
            placeholder="Search names"
            type="search"
            maxLength={255}
            value={filter.text}
            onInput={({ currentTarget }) => onFilter({ text: currentTarget.value })}
          />
        </label>
        <FoldedFilters active={active.filter(({ name }) => name !== 'Search').length}>
          <Select label="Code host" value={filter.forge} options={FORGES} onValue={(forge) => onFilter({ forge })} />
          <Select
            label="Show"
            value={filter.shown}
            options={REPOSITORY_KINDS}
            onValue={(shown) => onFilter({ shown })}
          />
          <Select
            label="Sort by"
            value={filter.sort}
            options={REPOSITORY_SORTS}
            onValue={(sort) => onFilter({ sort })}
          />
        </FoldedFilters>
      </div>
      <ActiveFilters filters={active} onClear={() => onFilter({ ...NO_REPOSITORY_FILTER, sort: filter.sort })} />
    </form>
  );
}

/** Lists the conditions that are in force. */
function listActiveFilters({ filter: { text, forge, shown }, onFilter }: FiltersProps): readonly ActiveFilter[] {
  const { text: noText, forge: noForge, shown: noKind } = NO_REPOSITORY_FILTER;
  const search = { name: 'Search', value: text, onRemove: () => onFilter({ text: noText }) };
  const host = {
    name: 'Code host',
    value: new Map(FORGES).get(forge) ?? '',
    onRemove: () => onFilter({ forge: noForge }),
  };
  const kind = { name: 'Show', value: KINDS[shown][0], onRemove: () => onFilter({ shown: noKind }) };
  return [
    ...(text === noText ? [] : [search]),
    ...(forge === noForge ? [] : [host]),
    ...(shown === noKind ? [] : [kind]),
  ];
}

/** The filter and order of the list of repositories. */
interface RepositoryFilter {
  readonly text: string;
  readonly forge: string;
  readonly shown: keyof typeof KINDS;
  readonly sort: keyof typeof ORDERS;
}

export const NO_REPOSITORY_FILTER: RepositoryFilter = { text: '', forge: '', shown: 'all', sort: 'name' };

const KINDS = {
  all: ['All', () => true],
  confirmed: ['With a webhook', ({ hasWebhook }: Repository) => hasWebhook],
  pending: ['Without a webhook', ({ hasWebhook }: Repository) => !hasWebhook],
  ignored: ['Ignored', ({ ignored }: Repository) => ignored],
  updated: ['Auto-updated', ({ autoUpdateBranch }: Repository) => autoUpdateBranch],
} as const;

const byName = (a: Repository, b: Repository): number => formatRepositoryName(a).localeCompare(formatRepositoryName(b));

const ORDERS = {
  name: ['name', byName],
  forge: ['code host', (a: Repository, b: Repository) => a.forge.localeCompare(b.forge) || byName(a, b)],
  webhook: [
    'missing webhook first',
    (a: Repository, b: Repository) => Number(a.hasWebhook) - Number(b.hasWebhook) || byName(a, b),
  ],
} as const;

const REPOSITORY_KINDS = Object.entries(KINDS).map(([kind, [name]]) => [kind as keyof typeof KINDS, name] as const);
const REPOSITORY_SORTS = Object.entries(ORDERS).map(([sort, [name]]) => [sort as keyof typeof ORDERS, name] as const);

/** Reads the filter of a query string. Values that this release does not know are replaced by their defaults. */
export function readRepositoryFilter(query: Query): RepositoryFilter | undefined {
  const found = parseAddressState(query, NO_REPOSITORY_FILTER);
  if (found === undefined) return undefined;
  const { forge, shown, sort } = NO_REPOSITORY_FILTER;
  return {
    ...found,
    ...(Object.hasOwn(FORGE_NAMES, found.forge) ? {} : { forge }),
    ...(Object.hasOwn(KINDS, found.shown) ? {} : { shown }),
    ...(Object.hasOwn(ORDERS, found.sort) ? {} : { sort }),
  };
}

export function selectRepositories(
  repositories: readonly Repository[],
  { text, forge, shown, sort }: RepositoryFilter,
): readonly Repository[] {
  const wanted = text.trim().toLowerCase();
  return repositories
    .filter(
      (one) =>
        KINDS[shown][1](one) &&
        (forge === '' || one.forge === forge) &&
        formatRepositoryName(one).toLowerCase().includes(wanted),
    )
    .sort(ORDERS[sort][1]);
}
