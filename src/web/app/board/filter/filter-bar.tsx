import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { parseBoardSearch } from '../../../../board-search/board-search.js';
import { type ActiveFilter, ActiveFilters, FoldedFilters } from '../../ui/filters.js';
import { Select } from '../../ui/form.js';
import { CI_NAMES } from '../data/rows.js';
import { BoardTabs, type TabCounts, ViewsMenu } from './board-tabs.js';
import {
  AGE_OPTIONS,
  type Filter,
  type FilterOptions,
  GROUP_NAMES,
  isFiltering,
  PAGE_SIZES,
  QUICK_FILTERS,
  type QuickFilter,
  SORT_OPTIONS,
  withoutConditions,
} from './filter.js';

interface FilterBarProps {
  readonly filter: Filter;
  readonly choices: FilterOptions;
  readonly tabs: TabCounts;
  readonly onFilter: (change: Partial<Filter>) => void;
  readonly search: RefObject<HTMLInputElement | null>;
  /** Texts that complete the search. */
  readonly suggestions: readonly string[];
  /** How many drafts and snoozed rows are hidden. */
  readonly hidden: { readonly drafts: number; readonly snoozed: number };
}

/** Tabs and search are always visible. A button with the number of active filters opens the rest. */
export function FilterBar(props: FilterBarProps) {
  const { filter, tabs, onFilter, search, suggestions } = props;
  const active = listActiveFilters(props);
  return (
    <form role="search" aria-label="Filter pull requests" class="filters" onSubmit={(event) => event.preventDefault()}>
      <BoardTabs filter={filter} counts={tabs} onFilter={onFilter} />
      <div class="selects folding">
        <SearchBox
          label="Search pull requests"
          value={filter.text}
          onValue={(text) => onFilter({ text })}
          field={search}
          suggestions={suggestions}
        />
        <FoldedFilters active={active.filter(({ name }) => name !== 'Search').length}>
          <QuickFilters filter={filter} onFilter={onFilter} />
          <Selects {...props} />
          <Toggles {...props} />
        </FoldedFilters>
        <ViewsMenu filter={filter} onFilter={onFilter} />
      </div>
      <SearchProblems text={filter.text} />
      <ActiveFilters filters={active} onClear={() => clearFilters(props)} />
    </form>
  );
}

/** Says what is wrong with a search. */
export function SearchProblems({ text }: { readonly text: string }) {
  const { problems } = parseBoardSearch(text);
  return (
    <p class="quiet search-problems" role="status">
      {problems.join(' ')}
    </p>
  );
}

/** Lists the conditions of the folded filters that are in force. */
function listActiveFilters({ filter, choices, onFilter }: FilterBarProps): readonly ActiveFilter[] {
  const nameIn = (options: readonly Option[], value: string): string =>
    options.find(([one]) => one === value)?.[1] ?? value;
  const { text, pill, repo, author, label, ci, updated, created } = filter;
  const conditions: readonly (readonly [keyof Filter, string, string])[] = [
    ['text', 'Search', text],
    // Names are looked up for active conditions only: listing all of them is slow on phones.
    ['repo', 'Repository', repo === '' ? '' : nameIn(choices.repos, repo)],
    ['author', 'Author', author],
    ['label', 'Label', label],
    ['ci', 'CI', ci === '' ? '' : nameIn(Object.entries(CI_NAMES), ci)],
    ['updated', 'Updated', updated === '' ? '' : nameIn(AGE_OPTIONS, updated)],
    ['created', 'Created', created === '' ? '' : nameIn(AGE_OPTIONS, created)],
  ];
  const active = conditions
    .filter(([, , value]) => value !== '')
    .map(([key, name, value]) => ({ name, value, onRemove: () => onFilter({ [key]: '' }) }));
  if (pill === 'all') return active;
  return [{ name: 'Show', value: QUICK_FILTERS[pill].name, onRemove: () => onFilter({ pill: 'all' }) }, ...active];
}

function clearFilters({ filter, onFilter }: FilterBarProps): void {
  if (isFiltering(filter)) onFilter(withoutConditions(filter));
}

const NAMED_GROUPS = Object.entries(GROUP_NAMES) as [Filter['group'], string][];

const PAGES = PAGE_SIZES.map((size) => [size as string, size || 'all'] as const);

type Option = readonly [string, string];

const all = (options: readonly Option[]): readonly Option[] => [['', 'All'], ...options];
const same = (values: readonly string[]): readonly Option[] => all(values.map((value) => [value, value] as const));

function QuickFilters({ filter, onFilter }: Pick<FilterBarProps, 'filter' | 'onFilter'>) {
  return (
    <div class="pills" role="group" aria-label="Quick filters">
      {(Object.keys(QUICK_FILTERS) as QuickFilter[]).map((pill) => (
        <button key={pill} type="button" aria-pressed={filter.pill === pill} onClick={() => onFilter({ pill })}>
          {QUICK_FILTERS[pill].name}
        </button>
      ))}
    </div>
  );
}

function Selects({ filter, choices, onFilter }: FilterBarProps) {
  return (
    <>
      <Select
        label="Repository"
        value={filter.repo}
        options={all(choices.repos)}
        onValue={(repo) => onFilter({ repo })}
      />
      <Select
        label="Author"
        value={filter.author}
        options={same(choices.authors)}
        onValue={(author) => onFilter({ author })}
      />
      <Select
        label="Label"
        value={filter.label}
        options={same(choices.labels)}
        onValue={(label) => onFilter({ label })}
      />
      <Select label="CI" value={filter.ci} options={all(Object.entries(CI_NAMES))} onValue={(ci) => onFilter({ ci })} />
      <Select
        label="Updated"
        value={filter.updated}
        options={AGE_OPTIONS}
        onValue={(updated) => onFilter({ updated })}
      />
      <Select
        label="Created"
        value={filter.created}
        options={AGE_OPTIONS}
        onValue={(created) => onFilter({ created })}
      />
      <Select label="Sort by" value={filter.sort} options={SORT_OPTIONS} onValue={(sort) => onFilter({ sort })} />
      <Select label="Group by" value={filter.group} options={NAMED_GROUPS} onValue={(group) => onFilter({ group })} />
      {filter.group === 'none' && (
        <Select label="Rows per page" value={filter.size} options={PAGES} onValue={(size) => onFilter({ size })} />
      )}
    </>
  );
}

function Toggles(props: FilterBarProps) {
  const { filter, onFilter, hidden } = props;
  return (
    <div class="toggles">
      <label class="choice">
        <input
          type="checkbox"
          checked={filter.drafts}
          onChange={({ currentTarget }) => onFilter({ drafts: currentTarget.checked })}
        />
        Drafts{!filter.drafts && hidden.drafts > 0 && ` (${hidden.drafts} hidden)`}
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={filter.snoozed}
          onChange={({ currentTarget }) => onFilter({ snoozed: currentTarget.checked })}
        />
        Snoozed{!filter.snoozed && hidden.snoozed > 0 && ` (${hidden.snoozed} hidden)`}
      </label>
      <button type="button" aria-disabled={!isFiltering(filter)} onClick={() => clearFilters(props)}>
        Clear filters
      </button>
    </div>
  );
}

interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly field: RefObject<HTMLInputElement | null>;
  /** Texts that replace the search. */
  readonly suggestions: readonly string[];
}

/** The keys that select a suggestion, with their steps. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/**
 * A search field with a list of suggestions. Browsers would hide those of a `datalist` that do not contain the typed
 * text, such as `repo:acme/shop` for `repo:shop`. No suggestion is selected before an arrow key is pressed.
 */
function SearchBox({ label, value, onValue, field, suggestions }: SearchBoxProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [selected, select] = useState(-1);
  const entered = useRef(value);
  const isShown = isOpen && suggestions.length > 0;
  // Low windows do not show the whole list.
  useLayoutEffect(() => document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: 'nearest' }), [selected]);
  const setList = (open: boolean): void => {
    setOpen(open);
    select(-1);
  };
  const change = (text: string, open: boolean): void => {
    entered.current = text;
    onValue(text);
    setList(open);
  };
  // The names of terms are followed by suggestions of their values.
  const accept = (text: string): void => change(text, text.endsWith(':'));
  // Back, Forward and the buttons of the filters change the text too.
  useLayoutEffect(() => {
    if (value !== entered.current) setList(false);
    entered.current = value;
  }, [value]);
  const onKey = (event: KeyboardEvent): void => {
    // The keys of an input method choose characters.
    if (event.isComposing) return;
    const step = STEPS[event.key];
    const chosen = suggestions[selected];
    if (step !== undefined && suggestions.length > 0) {
      setOpen(true);
      select(wrap(selected + step, suggestions.length));
    } else if (event.key === 'Enter' && isShown && chosen !== undefined) accept(chosen);
    else if (event.key === 'Escape' && isShown) setList(false);
    else if (event.key === 'Escape' && value !== '') change('', false);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <label class="aside" for={`${id}-field`}>
        {label}
      </label>
      <kbd aria-hidden="true">/</kbd>
      <input
        id={`${id}-field`}
        ref={field}
        // A search field cannot have this role.
        type="text"
        inputMode="search"
        enterKeyHint="search"
        // The types require it for this role.
        list={undefined}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={isShown && selected >= 0 ? `${id}-${selected}` : undefined}
        placeholder={label}
        autoComplete="off"
        maxLength={255}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value, true)}
        onKeyDown={onKey}
        onBlur={() => setList(false)}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label="Suggestions"
        hidden={!isShown}
        // The field keeps the focus.
        onPointerDown={(event) => event.preventDefault()}
        onMouseDown={(event) => event.preventDefault()}
      >
        {suggestions.map((text, index) => (
          <li
            key={text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => accept(text)}
          >
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns an index in a list, or -1 between its end and its beginning. */
const wrap = (index: number, length: number): number => (index < -1 ? length - 1 : index === length ? -1 : index);
