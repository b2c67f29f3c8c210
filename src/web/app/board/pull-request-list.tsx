import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { boardOwner } from './board-store.js';
import { BulkBar } from './bulk-bar.js';
import { FilterBar } from './filter-bar.js';
import { pullRequestFilter } from './filter-store.js';
import { suggestTitles } from './filter.js';
import type { Filter } from './filter.js';
import { ForgeNotices } from './forge-notices.js';
import { toGroups } from './groups.js';
import { KeyboardShortcuts } from './keyboard-shortcuts.js';
import { Pager, usePage } from './pages.js';
import { PullRequestGroups } from './pull-request-groups.js';
import { getRowKey } from './rows.js';
import type { Board, PullRequest } from './rows.js';
import { useFilteredBoard } from './use-filtered-board.js';
import { Tiles } from './tiles.js';
import { useListKeys } from './use-list-keys.js';
import { useTabBadge } from './use-tab-badge.js';
import { useVisitReport } from './use-visit-report.js';

const onFilter = (change: Partial<Filter>): void =>
  void (pullRequestFilter.value = { ...pullRequestFilter.value, ...change });

/** The list of pull requests with its tiles, notices, filters and groups. */
export function PullRequestList({ board }: { readonly board: Board }) {
  const search = useRef<HTMLInputElement>(null);
  const [isHelping, setHelping] = useState(false);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const onHelp = useCallback(() => setHelping(true), []);
  const { used, choices, rows, groups } = useFilteredBoard(board, pullRequestFilter.value);
  const list = JSON.stringify(used);
  const paged = usePage(rows, used.group === 'none' ? Number(used.size) || Infinity : Infinity, list);
  const listed = paged.pages === 1 ? groups : toGroups(paged.rows, 'none');
  const suggestions = useMemo(() => suggestTitles(board.pullRequests, used.text), [board.pullRequests, used.text]);
  const onChoose = useCallback((row: PullRequest, isChosen: boolean) => {
    choose((before) => {
      const next = new Set(before);
      if (isChosen) next.add(getRowKey(row));
      else next.delete(getRowKey(row));
      return next;
    });
  }, []);
  useListKeys({ search, onHelp });
  useTabBadge();
  useVisitReport(board);

  const isOwn = boardOwner.value === '';
  const snoozed = board.pullRequests.filter(({ snooze }) => snooze).length + board.hiddenSnoozed;
  return (
    <>
      <Tiles board={board} onFilter={onFilter} />
      <ForgeNotices board={board} />
      <FilterBar
        {...{ filter: used, choices, onFilter, search, suggestions }}
        hidden={{ drafts: board.hiddenDrafts, snoozed }}
      />
      <div class="count">
        <span class="quiet" role="status">
          {rows.length} of {board.pullRequests.length} shown
        </span>
        {isOwn && rows.length > 0 && (
          <button type="button" class="plain" onClick={() => choose(new Set(paged.rows.map(getRowKey)))}>
            Select all {paged.rows.length}
          </button>
        )}
        <button type="button" class="plain keys" onClick={onHelp}>
          Shortcuts <kbd aria-hidden="true">?</kbd>
        </button>
      </div>
      <PullRequestGroups groups={listed} {...{ chosen, onChoose }} list={`${list} ${paged.page}`} isReadOnly={!isOwn} />
      <Pager {...paged} />
      {rows.length === 0 && (
        <p>{board.pullRequests.length === 0 ? <Nothing board={board} /> : 'No pull requests match the filters.'}</p>
      )}
      {isOwn && <BulkBar chosen={rows.filter((row) => chosen.has(getRowKey(row)))} onDone={() => choose(new Set())} />}
      {isHelping && <KeyboardShortcuts onClose={() => setHelping(false)} />}
    </>
  );
}

function Nothing({ board }: { readonly board: Board }) {
  if (board.forges.length > 0 || boardOwner.value !== '') return <>No open pull requests.</>;
  return (
    <>
      No code host connected yet. <a href="/settings">Connect GitHub, GitLab or Forgejo</a>
    </>
  );
}
