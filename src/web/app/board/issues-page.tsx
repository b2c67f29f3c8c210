import './board.css';
import { useLocation } from 'preact-iso';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { useAddress } from '../ui/address.js';
import { type ActiveFilter, ActiveFilters, FoldedFilters } from '../ui/filters.js';
import { Select } from '../ui/form.js';
import { Avatar, Icon } from '../ui/icon.js';
import { EmptyState } from '../ui/resource.js';
import { RelativeTime } from '../ui/time-elements.js';
import { BoardHead, EmptyBoard, ForgeNotices, hasSource, UpdatesBar } from './board-head.js';
import { boardError, pendingIssueUpdates, shownBoard } from './data/board-store.js';
import { useBoard } from './data/follow-board.js';
import { type Board, getRowKey, type Issue } from './data/rows.js';
import { SearchProblems } from './filter/filter-bar.js';
import {
  applyIssueFilter,
  changeIssueFilter,
  countIssueConditions,
  dropUnavailableIssueValues,
  issueFilter,
  type IssueFilter,
  listIssueFilterOptions,
  NO_ISSUE_FILTER,
  readIssueQuery,
  syncFilters,
} from './filter/filter-store.js';
import { AGE_OPTIONS, SORT_OPTIONS } from './filter/filter.js';
import { Chip, ForgeMark, hasSeveralForges } from './list/badges.js';
import { UndrawnRows, useProgressiveRendering } from './list/paging.js';

export function IssuesPage() {
  const { query } = useLocation();
  useLayoutEffect(() => syncFilters({ issues: readIssueQuery(query) }), []);
  useAddress(issueFilter, NO_ISSUE_FILTER, readIssueQuery);
  useBoard(false);
  const board = shownBoard.value;
  return (
    <>
      <BoardHead title="Issues" />
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet skeleton">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          {hasSource(board) ? <Issues board={board} /> : <EmptyBoard board={board} rows="issues" />}
        </>
      )}
      <UpdatesBar count={pendingIssueUpdates.value} />
    </>
  );
}

function Issues({ board }: { readonly board: Board }) {
  const { issues } = board;
  const choices = useMemo(() => listIssueFilterOptions(issues), [issues]);
  const used = useMemo(() => dropUnavailableIssueValues(issueFilter.value, choices), [issueFilter.value, choices]);
  const selected = useMemo(() => applyIssueFilter(issues, used), [issues, used]);
  const drawn = useProgressiveRendering(selected.length, JSON.stringify(used));
  const housekeeping = issues.filter((issue) => issue.housekeeping).length;
  const hasMark = hasSeveralForges(board);
  return (
    <>
      <IssueFilters {...{ used, choices, housekeeping }} />
      <p class="quiet" role="status">
        {selected.length.toLocaleString()} of {issues.length.toLocaleString()} shown
      </p>
      <ul class="pulls">
        {selected.slice(0, drawn.count).map((issue) => (
          <IssueRow key={getRowKey(issue)} issue={issue} hasMark={hasMark} />
        ))}
      </ul>
      <UndrawnRows {...drawn} />
      {selected.length === 0 && <NoIssues board={board} />}
    </>
  );
}

function NoIssues({ board }: { readonly board: Board }) {
  if (board.issues.length === 0) return <EmptyBoard board={board} rows="issues" />;
  const clear = (
    <button
      type="button"
      onClick={() => (issueFilter.value = { ...NO_ISSUE_FILTER, sort: issueFilter.value.sort, housekeeping: true })}
    >
      Show all issues
    </button>
  );
  return <EmptyState icon="search" text="No issues match the filters." next={clear} />;
}

interface IssueRowProps {
  readonly issue: Issue;
  /** Whether the row has the mark of its code host. */
  readonly hasMark: boolean;
}

function IssueRow({ issue, hasMark }: IssueRowProps) {
  return (
    <li class="pull issue">
      <span class="glyph">
        <Icon name="issue" />
      </span>
      <div class="about">
        <div class="title" dir="auto">
          <a class="open" href={issue.url} target="_blank" rel="noreferrer">
            {issue.title}
          </a>{' '}
          {issue.labels.map(({ name, color }) => (
            <Chip key={name} color={color} onClick={() => changeIssueFilter({ label: name })}>
              {name}
            </Chip>
          ))}
        </div>
        <div class="where quiet">
          {hasMark && <ForgeMark forge={issue.forge} />}
          <span class="repo">{issue.repo}</span> #{issue.number} · <Avatar name={issue.author} />
          {issue.author}
        </div>
      </div>
      <span class="age quiet">
        <span class="aside">updated </span>
        <RelativeTime time={issue.updatedAt} />
      </span>
    </li>
  );
}

/** Lists the conditions of the folded filters that are in force. */
function listActiveFilters(used: IssueFilter, choices: IssueFiltersProps['choices']): readonly ActiveFilter[] {
  const conditions = [
    ['text', 'Search', []],
    ['repo', 'Repository', choices.repo],
    ['author', 'Author', choices.author],
    ['label', 'Label', choices.label],
    ['updated', 'Updated', AGE_OPTIONS],
    ['created', 'Created', AGE_OPTIONS],
  ] as const;
  return conditions
    .filter(([key]) => used[key] !== '')
    .map(([key, name, options]) => ({
      name,
      value: new Map<string, string>(options).get(used[key]) ?? used[key],
      onRemove: () => changeIssueFilter({ [key]: '' }),
    }));
}

interface IssueFiltersProps {
  readonly used: IssueFilter;
  readonly choices: ReturnType<typeof listIssueFilterOptions>;
  /** How many bot dashboards are hidden. */
  readonly housekeeping: number;
}

function IssueFilters({ used, choices, housekeeping }: IssueFiltersProps) {
  const active = countIssueConditions(used);
  const isClear = active === 0 && used.text === '';
  return (
    <form role="search" aria-label="Filter issues" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects folding">
        <label class="search">
          <span class="aside">Search issues</span>
          <input
            placeholder="Search issues"
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
      <SearchProblems text={used.text} />
      <ActiveFilters
        filters={listActiveFilters(used, choices)}
        onClear={() => (issueFilter.value = { ...NO_ISSUE_FILTER, sort: used.sort })}
      />
    </form>
  );
}
