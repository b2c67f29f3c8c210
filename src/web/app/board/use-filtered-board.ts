import { useMemo } from 'preact/hooks';
import { applyFilter, listFilterOptions, dropUnavailableValues } from './filter.js';
import type { FilterOptions, Filter } from './filter.js';
import { toGroups } from './groups.js';
import type { Group } from './groups.js';
import type { Board, PullRequest } from './rows.js';
import { matchesView } from './views.js';
import { savedViews } from './views-store.js';

export interface FilteredBoard {
  /** The filter without values that no longer occur on the board. */
  readonly used: Filter;
  readonly choices: FilterOptions;
  readonly rows: readonly PullRequest[];
  readonly groups: readonly Group[];
}

/** Applies a filter to a board and memoises the result. */
export function useFilteredBoard({ pullRequests }: Board, filter: Filter): FilteredBoard {
  const choices = useMemo(() => listFilterOptions(pullRequests), [pullRequests]);
  const known = savedViews.value;
  const used = useMemo(
    () =>
      dropUnavailableValues(
        filter,
        choices,
        known?.map(({ name }) => name),
      ),
    [filter, choices, known],
  );
  const view = known?.find(({ name }) => name === used.view)?.filter;
  const rows = useMemo(() => {
    const listed = pullRequests.filter((row) => (used.snoozed || !row.snooze) && (!view || matchesView(view, row)));
    return applyFilter(listed, used);
  }, [pullRequests, used, view]);
  const groups = useMemo(() => toGroups(rows, used.group), [rows, used.group]);
  return { used, choices, rows, groups };
}
