import { useMemo } from 'preact/hooks';
import { applyFilter, choicesOf, withoutVanished } from './filter.js';
import type { Choices, Filter } from './filter.js';
import { toGroups } from './groups.js';
import type { Group } from './groups.js';
import type { Board, PullRequest } from './rows.js';
import { selects } from './views.js';
import { views } from './views-store.js';

export interface Selection {
  /** The filter without values that no longer occur on the board. */
  readonly used: Filter;
  readonly choices: Choices;
  readonly rows: readonly PullRequest[];
  readonly groups: readonly Group[];
}

/** Applies a filter to a board and memoises the result. */
export function useSelection({ pullRequests }: Board, filter: Filter): Selection {
  const choices = useMemo(() => choicesOf(pullRequests), [pullRequests]);
  const known = views.value;
  const used = useMemo(
    () =>
      withoutVanished(
        filter,
        choices,
        known?.map(({ name }) => name),
      ),
    [filter, choices, known],
  );
  const view = known?.find(({ name }) => name === used.view)?.filter;
  const rows = useMemo(() => {
    const listed = pullRequests.filter((row) => (used.snoozed || !row.snooze) && (!view || selects(view, row)));
    return applyFilter(listed, used);
  }, [pullRequests, used, view]);
  const groups = useMemo(() => toGroups(rows, used.group), [rows, used.group]);
  return { used, choices, rows, groups };
}
