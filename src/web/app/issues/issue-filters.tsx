import { HOURS, NAMED_SORTS } from '../board/filter.js';
import { FoldedFilters } from '../shell/folded-filters.js';
import { Select } from '../shell/select.js';
import { change, countNarrowing, filter, NO_FILTER } from './issue-filter.js';
import type { IssueFilter, choicesOf } from './issue-filter.js';

interface IssueFiltersProps {
  readonly used: IssueFilter;
  readonly choices: ReturnType<typeof choicesOf>;
  /** How many bot dashboards are hidden. */
  readonly housekeeping: number;
}

export function IssueFilters({ used, choices, housekeeping }: IssueFiltersProps) {
  const active = countNarrowing(used);
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
            onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        </label>
        <FoldedFilters active={active}>
          <Select label="Repository" value={used.repo} options={choices.repo} onValue={(repo) => change({ repo })} />
          <Select
            label="Author"
            value={used.author}
            options={choices.author}
            onValue={(author) => change({ author })}
          />
          <Select label="Label" value={used.label} options={choices.label} onValue={(label) => change({ label })} />
          <Select label="Updated" value={used.updated} options={HOURS} onValue={(updated) => change({ updated })} />
          <Select label="Created" value={used.created} options={HOURS} onValue={(created) => change({ created })} />
          <Select label="Sort by" value={used.sort} options={NAMED_SORTS} onValue={(sort) => change({ sort })} />
          <label class="choice">
            <input
              type="checkbox"
              checked={used.housekeeping}
              onChange={({ currentTarget }) => change({ housekeeping: currentTarget.checked })}
            />
            Bot dashboards{!used.housekeeping && housekeeping > 0 && ` (${housekeeping} hidden)`}
          </label>
          <button
            type="button"
            aria-disabled={isClear}
            onClick={() => {
              if (!isClear) filter.value = { ...NO_FILTER, sort: used.sort };
            }}
          >
            Clear filters
          </button>
        </FoldedFilters>
      </div>
    </form>
  );
}
