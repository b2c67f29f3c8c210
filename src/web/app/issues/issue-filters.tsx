import { AGE_OPTIONS, SORT_OPTIONS } from '../board/filter.js';
import { FoldedFilters } from '../ui/folded-filters.js';
import { Select } from '../ui/select.js';
import { changeIssueFilter, countIssueConditions, issueFilter, NO_ISSUE_FILTER } from './issue-filter.js';
import type { IssueFilter, listIssueFilterOptions } from './issue-filter.js';

interface IssueFiltersProps {
  readonly used: IssueFilter;
  readonly choices: ReturnType<typeof listIssueFilterOptions>;
  /** How many bot dashboards are hidden. */
  readonly housekeeping: number;
}

export function IssueFilters({ used, choices, housekeeping }: IssueFiltersProps) {
  const active = countIssueConditions(used);
  const isClear = active === 0 && used.text === '';
  return (
    <form role="search" aria-label="Filter issues" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <label class="search">
          Search titles
          <input
            type="search"
            maxLength={255}
            value={used.text}
            onInput={({ currentTarget }) => changeIssueFilter({ text: currentTarget.value })}
          />
        </label>
        <FoldedFilters active={active}>
          <Select
            label="Repository"
            value={used.repo}
            options={choices.repo}
            onValue={(repo) => changeIssueFilter({ repo })}
          />
          <Select
            label="Author"
            value={used.author}
            options={choices.author}
            onValue={(author) => changeIssueFilter({ author })}
          />
          <Select
            label="Label"
            value={used.label}
            options={choices.label}
            onValue={(label) => changeIssueFilter({ label })}
          />
          <Select
            label="Updated"
            value={used.updated}
            options={AGE_OPTIONS}
            onValue={(updated) => changeIssueFilter({ updated })}
          />
          <Select
            label="Created"
            value={used.created}
            options={AGE_OPTIONS}
            onValue={(created) => changeIssueFilter({ created })}
          />
          <Select
            label="Sort by"
            value={used.sort}
            options={SORT_OPTIONS}
            onValue={(sort) => changeIssueFilter({ sort })}
          />
          <label class="choice">
            <input
              type="checkbox"
              checked={used.housekeeping}
              onChange={({ currentTarget }) => changeIssueFilter({ housekeeping: currentTarget.checked })}
            />
            Bot dashboards{!used.housekeeping && housekeeping > 0 && ` (${housekeeping} hidden)`}
          </label>
          <button
            type="button"
            aria-disabled={isClear}
            onClick={() => {
              if (!isClear) issueFilter.value = { ...NO_ISSUE_FILTER, sort: used.sort };
            }}
          >
            Clear filters
          </button>
        </FoldedFilters>
      </div>
    </form>
  );
}
