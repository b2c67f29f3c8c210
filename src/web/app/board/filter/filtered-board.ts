import { useMemo } from 'preact/hooks';
import { parseBoardSearch } from '../../../../board-search/board-search.js';
import type { Board, PullRequest } from '../data/rows.js';
import { type Group, toGroups } from '../list/groups.js';
import { countTabs, type TabCounts } from './board-tabs.js';
import { applyFilter, dropUnavailableValues, type Filter, type FilterOptions, listFilterOptions } from './filter.js';
import { savedViews } from './saved-views.js';
import { createViewMatcher } from './views.js';

interface FilteredBoard {
  /** The filter without values that no longer occur on the board. */
  readonly used: Filter;
  readonly choices: FilterOptions;
  readonly tabs: TabCounts;
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
  const isSnoozedListed = used.snoozed || parseBoardSearch(used.text).states.has('snoozed');
  const listed = useMemo(
    () => pullRequests.filter(({ snooze }) => isSnoozedListed || !snooze),
    [pullRequests, isSnoozedListed],
  );
  const tabs = useMemo(() => countTabs(listed, used, known ?? []), [listed, used, known]);
  const rows = useMemo(
    () => applyFilter(view ? listed.filter(createViewMatcher(view)) : listed, used),
    [listed, used, view],
  );
  const groups = useMemo(() => toGroups(rows, used.group), [rows, used.group]);
  return { used, choices, tabs, rows, groups };
}
