import type { RefObject } from 'preact';
import { NO_FILTER, PILLS, isFiltering } from './filter.js';
import type { Choices, Filter, Pill } from './filter.js';
import { CI_NAMES } from './rows.js';
import { Select } from '../shell/select.js';

interface FilterBarProps {
  readonly filter: Filter;
  readonly choices: Choices;
  readonly onFilter: (change: Partial<Filter>) => void;
  readonly search: RefObject<HTMLInputElement | null>;
  /** How many drafts and rows set aside are not listed. */
  readonly hidden: { readonly drafts: number; readonly snoozed: number };
}

const HOURS = [
  ['', 'any time'],
  ['1', 'last hour'],
  ['24', 'last day'],
  ['168', 'last 7 days'],
  ['720', 'last 30 days'],
] as const;

export function FilterBar({ filter, choices, onFilter, search, hidden }: FilterBarProps) {
  const plain = (values: readonly string[]) =>
    [['', 'All'], ...values.map((value) => [value, value] as const)] as const;
  return (
    <form role="search" aria-label="Filter pull requests" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="pills" role="group" aria-label="Quick filters">
        {(Object.keys(PILLS) as Pill[]).map((pill) => (
          <button key={pill} type="button" aria-pressed={filter.pill === pill} onClick={() => onFilter({ pill })}>
            {PILLS[pill].name}
          </button>
        ))}
      </div>
      <div class="selects">
        <label>
          Search titles <kbd aria-hidden="true">/</kbd>
          <input
            ref={search}
            type="search"
            maxLength={255}
            value={filter.text}
            onInput={({ currentTarget }) => onFilter({ text: currentTarget.value })}
          />
        </label>
        <Select
          label="Repository"
          value={filter.repo}
          options={plain(choices.repos)}
          onValue={(repo) => onFilter({ repo })}
        />
        <Select
          label="Author"
          value={filter.author}
          options={plain(choices.authors)}
          onValue={(author) => onFilter({ author })}
        />
        <Select
          label="Label"
          value={filter.label}
          options={plain(choices.labels)}
          onValue={(label) => onFilter({ label })}
        />
        <Select
          label="CI"
          value={filter.ci}
          options={[['', 'All'], ...Object.entries(CI_NAMES)]}
          onValue={(ci) => onFilter({ ci })}
        />
        <Select label="Updated" value={filter.updated} options={HOURS} onValue={(updated) => onFilter({ updated })} />
        <Select label="Created" value={filter.created} options={HOURS} onValue={(created) => onFilter({ created })} />
        <Select label="Sort by" value={filter.sort} options={SORTS} onValue={(sort) => onFilter({ sort })} />
        <Select label="Group by" value={filter.group} options={GROUPS} onValue={(group) => onFilter({ group })} />
      </div>
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
          Set aside{!filter.snoozed && hidden.snoozed > 0 && ` (${hidden.snoozed} hidden)`}
        </label>
        <button
          type="button"
          aria-disabled={!isFiltering(filter)}
          onClick={() => {
            const { sort, group, drafts, snoozed } = filter;
            onFilter({ ...NO_FILTER, sort, group, drafts, snoozed });
          }}
        >
          Clear filters
        </button>
      </div>
    </form>
  );
}

const SORTS: readonly (readonly [Filter['sort'], string])[] = [
  ['updated', 'last activity'],
  ['created', 'created'],
  ['repository', 'repository'],
];

const GROUPS: readonly (readonly [Filter['group'], string])[] = [
  ['section', 'whose turn it is'],
  ['repository', 'repository'],
  ['forge', 'forge'],
  ['none', 'nothing'],
];
