import './board.css';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseBoardSearch } from '../../../board-search/board-search.js';
import type { BoardCounts } from '../../../dashboard/boards/first-rows.js';
import { dashboardClient } from '../api.js';
import { consumePreloaded, preloadedBoard } from '../page-data.js';
import { useAddress } from '../ui/address.js';
import { EmptyState, useReloadOnReturn } from '../ui/resource.js';
import { BulkBar } from './actions.js';
import { BoardHead, EmptyBoard, ForgeNotices, hasSource, UpdatesBar } from './board-head.js';
import { boardError, boardOwner, firstRows, newestBoard, pendingUpdates, shownBoard } from './data/board-store.js';
import { preloadBoard, useBoard } from './data/follow-board.js';
import { type Board, getRowKey, type PullRequest } from './data/rows.js';
import { countSections, loadViews, savedViews, type TabCounts } from './filter/board-tabs.js';
import { FilterBar } from './filter/filter-bar.js';
import { pullRequestFilter, readPullRequestQuery, syncFilters } from './filter/filter-store.js';
import {
  applyFilter,
  dropUnavailableValues,
  type Filter,
  type FilterOptions,
  type Group,
  isFiltering,
  isPlainList,
  listFilterOptions,
  needsDrafts,
  NO_FILTER,
  suggestTexts,
  toGroups,
  withoutConditions,
} from './filter/filter.js';
import { countViews, createViewMatcher } from './filter/views.js';
import { hasSeveralForges } from './list/badges.js';
import { Pager, usePage } from './list/paging.js';
import { PullRequestGroups } from './list/pull-request-list.js';
import { KeyboardShortcuts, useListKeys, useSelection } from './list/selection.js';
import { PullRequestPanel } from './panel/pull-request-panel.js';

/** Starts loading the data of the page before it is drawn. */
export function preloadPullRequests(): Promise<void> {
  const filter = pullRequestFilter.value;
  const stored = (preloadedBoard?.filters.pullRequests ?? {}) as Partial<Filter>;
  // A link to a list or a row needs the whole board, and so does a filter that the server does not have yet.
  const isFirst =
    location.search === '' && location.hash === '' && isPlainList(filter) && filter.drafts === (stored.drafts === true);
  const first = consumePreloaded('firstRows');
  return preloadBoard(filter.drafts, isFirst ? first : undefined);
}

export function PullRequestsPage() {
  const drafts = needsDrafts(pullRequestFilter.value);
  const { query } = useLocation();
  useLayoutEffect(() => syncFilters({ pullRequests: readPullRequestQuery(query) }), []);
  useAddress(pullRequestFilter, NO_FILTER, readPullRequestQuery);
  useBoard(drafts);
  useLayoutEffect(() => void loadViews(), []);
  // Another tab may have saved or deleted some.
  useReloadOnReturn(loadViews);
  const first = shownBoard.value === undefined ? firstRows.value : undefined;
  const board = shownBoard.value ?? first?.board;
  return (
    <>
      <BoardHead title="Pull requests">
        {board && hasSource(board) && <Tiles {...(first?.counts ?? countTiles(board))} onFilter={onFilter} />}
      </BoardHead>
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet skeleton">Loading …</p>
      ) : hasSource(board) ? (
        <PullRequestList board={board} counts={first?.counts} />
      ) : (
        <EmptyBoard board={board} rows="pull requests" />
      )}
      <UpdatesBar count={pendingUpdates.value} />
    </>
  );
}

const onFilter = (change: Partial<Filter>): void =>
  void (pullRequestFilter.value = { ...pullRequestFilter.value, ...change });

interface PullRequestListProps {
  readonly board: Board;
  /** The numbers of the whole board, while only its first rows are there. */
  readonly counts: BoardCounts | undefined;
}

/** The list of pull requests with its tiles, notices, filters and groups. */
function PullRequestList({ board, counts }: PullRequestListProps) {
  const search = useRef<HTMLInputElement>(null);
  const [isHelping, setHelping] = useState(false);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const onHelp = useCallback(() => setHelping(true), []);
  const { selected, select } = useSelection();
  const { used, choices, tabs, rows, groups } = useFilteredBoard(board, pullRequestFilter.value);
  const list = JSON.stringify(used);
  const paged = usePage(rows, used.group === 'none' ? Number(used.size) || Infinity : Infinity, list);
  const listed = paged.pages === 1 ? groups : toGroups(paged.rows, 'none');
  const suggestions = useMemo(() => suggestTexts(board.pullRequests, used.text), [board.pullRequests, used.text]);
  const onChoose = useCallback((row: PullRequest, isChosen: boolean) => {
    choose((before) => {
      const next = new Set(before);
      if (isChosen) next.add(getRowKey(row));
      else next.delete(getRowKey(row));
      return next;
    });
  }, []);
  useListKeys({ search, onHelp, onSelect: select });
  const onClose = useCallback(() => select(''), [select]);
  useTabBadge();
  useVisitReport(board);

  const isOwn = boardOwner.value === '';
  const snoozed = counts?.snoozed ?? board.pullRequests.filter(({ snooze }) => snooze).length + board.hiddenSnoozed;
  return (
    <>
      <ForgeNotices board={board} />
      <FilterBar
        {...{ filter: used, choices, onFilter, search, suggestions }}
        tabs={counts ? { sections: counts.sections, views: undefined } : tabs}
        hidden={{ drafts: board.hiddenDrafts, snoozed }}
      />
      <div class="count">
        <span class="quiet" role="status">
          {(counts ? sumSections(counts) : rows.length).toLocaleString()} of{' '}
          {(counts?.open ?? board.pullRequests.length).toLocaleString()} shown
        </span>
        {isOwn && rows.length > 0 && (
          <button
            type="button"
            class="plain"
            disabled={counts !== undefined}
            onClick={() => choose(new Set(paged.rows.map(getRowKey)))}
          >
            Select all {counts ? sumSections(counts) : paged.rows.length}
          </button>
        )}
        <button type="button" class="plain keys" onClick={onHelp}>
          Shortcuts <kbd aria-hidden="true">?</kbd>
        </button>
      </div>
      <PullRequestGroups
        groups={counts ? withTotals(listed, counts) : listed}
        {...{ chosen, selected, onChoose }}
        onSelect={select}
        hasMark={hasSeveralForges(board)}
        list={`${list} ${paged.page}`}
        isReadOnly={!isOwn}
      />
      <Pager {...paged} />
      {rows.length === 0 && <NoRows board={board} filter={used} snoozed={snoozed} />}
      {isOwn && (
        <BulkBar
          chosen={rows.filter((row) => chosen.has(getRowKey(row)))}
          onDone={(left) => choose(new Set(left.map(getRowKey)))}
        />
      )}
      {selected !== '' && <PullRequestPanel {...{ board, selected, onClose }} isReadOnly={!isOwn} />}
      {isHelping && <KeyboardShortcuts onClose={() => setHelping(false)} />}
    </>
  );
}

const sumSections = ({ sections }: BoardCounts): number =>
  Object.values(sections).reduce((sum, count) => sum + count, 0);

/** Gives the groups of the first rows the numbers of their rows on the whole board. */
const withTotals = (groups: readonly Group[], { sections }: BoardCounts): readonly Group[] =>
  groups.map((group) => ({ ...group, total: group.rows[0] && sections[group.rows[0].section] }));

interface NoRowsProps {
  readonly board: Board;
  readonly filter: Filter;
  /** The number of snoozed rows. */
  readonly snoozed: number;
}

/** Explains why no row is listed. */
function NoRows({ board, filter, snoozed }: NoRowsProps) {
  const isFiltered = isFiltering(filter);
  const hidden = [
    ...(board.hiddenDrafts > 0 ? ['drafts'] : []),
    ...(snoozed > 0 && !filter.snoozed ? ['snoozed'] : []),
  ];
  if (board.pullRequests.length === 0 && hidden.length === 0) return <EmptyBoard board={board} rows="pull requests" />;
  const show = (
    <button
      type="button"
      onClick={() => onFilter(isFiltered ? withoutConditions(filter) : { drafts: true, snoozed: true })}
    >
      Show all pull requests
    </button>
  );
  const text = isFiltered
    ? 'No pull requests match the filters.'
    : `All open pull requests are ${hidden.join(' or ')}.`;
  return <EmptyState icon="search" text={text} next={show} />;
}

type TileCounts = Pick<BoardCounts, 'failing' | 'open' | 'repositories'>;

interface TilesProps extends TileCounts {
  readonly onFilter: (change: Partial<Filter>) => void;
}

const countTiles = ({ pullRequests, repos }: Board): TileCounts => ({
  open: pullRequests.length,
  failing: pullRequests.filter(({ ci }) => ci === 'failure').length,
  repositories: repos.filter(({ yoursOnly }) => yoursOnly !== true).length,
});

/** The three key figures of a board; each links to the rows that it counts. */
function Tiles({ open, failing, repositories: count, onFilter }: TilesProps) {
  const repositories = (
    <>
      <strong>{count.toLocaleString()}</strong> {count === 1 ? 'repository' : 'repositories'}
    </>
  );
  return (
    <div class="tiles">
      <button type="button" class="tile" onClick={() => onFilter({ section: '', pill: 'all' })}>
        <strong>{open.toLocaleString()}</strong> open
      </button>
      <button
        type="button"
        class={`tile ${failing > 0 ? 'bad' : ''}`}
        onClick={() => onFilter({ section: '', pill: 'failing' })}
      >
        <strong>{failing.toLocaleString()}</strong> failing CI
      </button>
      {boardOwner.value === '' ? (
        <a class="tile" href="/repositories">
          {repositories}
        </a>
      ) : (
        <div class="tile">{repositories}</div>
      )}
    </div>
  );
}

/** Reports to the server, when the page is hidden, which version of their own board the user has seen. */
function useVisitReport({ generatedAt }: Board): void {
  const seenAt = useRef(generatedAt);
  seenAt.current = generatedAt;
  const isOwn = boardOwner.value === '';
  useEffect(() => {
    if (!isOwn) return;
    const save = (): void => {
      if (document.visibilityState === 'visible') return;
      const body = { seenAt: seenAt.current };
      dashboardClient.PUT('/api/dashboard/visit', { body, keepalive: true }).catch(() => undefined);
    };
    document.addEventListener('visibilitychange', save);
    return () => document.removeEventListener('visibilitychange', save);
  }, [isOwn]);
}

/** Shows in the tab's title and icon how many pull requests wait for the user, including those of waiting updates. */
function useTabBadge(): void {
  const rows = boardOwner.value === '' ? (newestBoard.value?.pullRequests ?? []) : [];
  const first = newestBoard.value === undefined ? firstRows.value?.counts.sections : undefined;
  const turns = first
    ? first.needs_your_review + first.returned_to_you
    : rows.filter(
        ({ section, snooze }) => !snooze && (section === 'needs_your_review' || section === 'returned_to_you'),
      ).length;
  useEffect(() => {
    setTabBadge(turns, 'Pull requests');
    return () => setTabBadge(0, 'Pull requests');
  }, [turns]);
}

/** Shows a number in the title and on the icon of the browser tab. */
function setTabBadge(count: number, title: string): void {
  document.title = count === 0 ? `${title} · Trellis` : `(${count}) ${title} · Trellis`;
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon === null) return;
  icon.dataset.plain ??= icon.href;
  icon.href = count === 0 ? icon.dataset.plain : drawIcon(count);
}

/** The icon has room for two digits. */
const MOST = 99;

function drawIcon(count: number): string {
  const text = count > MOST ? `${MOST}+` : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17614a"/><text x="16" y="22" font-family="sans-serif" font-size="${text.length > 2 ? 13 : 17}" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

interface FilteredBoard {
  /** The filter without values that no longer occur on the board. */
  readonly used: Filter;
  readonly choices: FilterOptions;
  readonly tabs: TabCounts;
  readonly rows: readonly PullRequest[];
  readonly groups: readonly Group[];
}

/** Applies a filter to a board and memoises the result. */
function useFilteredBoard({ pullRequests, hiddenDrafts }: Board, filter: Filter): FilteredBoard {
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
  const tabs = useMemo(
    () => ({
      sections: countSections(listed, used),
      views: countViews({ pullRequests, hiddenDrafts }, used, known ?? []),
    }),
    [listed, used, known, hiddenDrafts],
  );
  const rows = useMemo(
    () => applyFilter(view ? listed.filter(createViewMatcher(view)) : listed, used),
    [listed, used, view],
  );
  const groups = useMemo(() => toGroups(rows, used.group), [rows, used.group]);
  return { used, choices, tabs, rows, groups };
}
