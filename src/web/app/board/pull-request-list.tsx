import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { owner } from './board-store.js';
import { BulkBar } from './bulk-bar.js';
import { FilterBar } from './filter-bar.js';
import { filter } from './filter-store.js';
import { suggest } from './filter.js';
import type { Filter } from './filter.js';
import { ForgeNotes } from './forge-notes.js';
import { toGroups } from './groups.js';
import { KeysHelp } from './keys-help.js';
import { Pager, usePage } from './pages.js';
import { PullRequestGroups } from './pull-request-groups.js';
import { keyOf } from './rows.js';
import type { Board, PullRequest } from './rows.js';
import { useSelection } from './selection.js';
import { Tiles } from './tiles.js';
import { useListKeys } from './use-list-keys.js';
import { useMarks } from './use-marks.js';
import { useVisit } from './use-visit.js';

const onFilter = (change: Partial<Filter>): void => void (filter.value = { ...filter.value, ...change });

/** The list of pull requests with its tiles, notices, filters and groups. */
export function PullRequestList({ board }: { readonly board: Board }) {
  const search = useRef<HTMLInputElement>(null);
  const [isHelping, setHelping] = useState(false);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const onHelp = useCallback(() => setHelping(true), []);
  const { used, choices, rows, groups } = useSelection(board, filter.value);
  const list = JSON.stringify(used);
  const paged = usePage(rows, used.group === 'none' ? Number(used.size) || Infinity : Infinity, list);
  const listed = paged.pages === 1 ? groups : toGroups(paged.rows, 'none');
  const suggestions = useMemo(() => suggest(board.pullRequests, used.text), [board.pullRequests, used.text]);
  const onChoose = useCallback((row: PullRequest, isChosen: boolean) => {
    choose((before) => {
      const next = new Set(before);
      if (isChosen) next.add(keyOf(row));
      else next.delete(keyOf(row));
      return next;
    });
  }, []);
  useListKeys({ search, onHelp });
  useMarks();
  useVisit(board);

  const isOwn = owner.value === '';
  const snoozed = board.pullRequests.filter(({ snooze }) => snooze).length + board.hiddenSnoozed;
  return (
    <>
      <Tiles board={board} onFilter={onFilter} />
      <ForgeNotes board={board} />
      <FilterBar
        {...{ filter: used, choices, onFilter, search, suggestions }}
        hidden={{ drafts: board.hiddenDrafts, snoozed }}
      />
      <div class="count">
        <span class="quiet" role="status">
          {rows.length} of {board.pullRequests.length} shown
        </span>
        {isOwn && rows.length > 0 && (
          <button type="button" class="plain" onClick={() => choose(new Set(paged.rows.map(keyOf)))}>
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
      {isOwn && <BulkBar chosen={rows.filter((row) => chosen.has(keyOf(row)))} onDone={() => choose(new Set())} />}
      {isHelping && <KeysHelp onClose={() => setHelping(false)} />}
    </>
  );
}

function Nothing({ board }: { readonly board: Board }) {
  if (board.forges.length > 0 || owner.value !== '') return <>No open pull requests.</>;
  return (
    <>
      No code host connected yet. <a href="/settings">Connect GitHub, GitLab or Forgejo</a>
    </>
  );
}
