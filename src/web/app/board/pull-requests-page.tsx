import { useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { Heading } from '../shell/heading.js';
import { requireAnswer } from '../answers.js';
import { followBoard, isPaused, newest, problem, reloadBoard, showNewest, shown, waiting } from './board-store.js';
import { BulkBar } from './bulk-bar.js';
import { FilterBar } from './filter-bar.js';
import { filter, keepFilter } from './filter-store.js';
import { applyFilter, choicesOf, withoutVanished } from './filter.js';
import type { Filter } from './filter.js';
import { ForgeNotes } from './forge-notes.js';
import { toGroups } from './groups.js';
import { KeysHelp } from './keys-help.js';
import { PullRequestRow } from './pull-request-row.js';
import { keyOf } from './rows.js';
import type { Board, PullRequest } from './rows.js';
import { Tiles } from './tiles.js';
import { useListKeys } from './use-list-keys.js';
import { markWindow } from './window-marks.js';
import './board.css';

export function PullRequestsPage() {
  const { drafts } = filter.value;
  useEffect(() => void keepFilter(), []);
  useEffect(() => {
    const controller = new AbortController();
    void followBoard(drafts, controller.signal);
    return () => controller.abort();
  }, [drafts]);
  const board = shown.value;
  return (
    <>
      <div class="head">
        <Heading>Pull requests</Heading>
        <label class="choice">
          <input
            type="checkbox"
            checked={isPaused.value}
            onChange={({ currentTarget }) => (isPaused.value = currentTarget.checked)}
          />
          Pause updates
        </label>
        <ActionButton onAct={() => refresh(drafts)}>Refresh</ActionButton>
      </div>
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <UpdatesBar />
      {board === undefined ? problem.value === undefined && <p class="quiet">Loading …</p> : <List board={board} />}
    </>
  );
}

async function refresh(includeDrafts: boolean): Promise<void> {
  requireAnswer(await dashboard.POST('/api/dashboard/refresh', { params: { query: { includeDrafts } } }));
  await reloadBoard(includeDrafts);
}

/** What came since stays here until it is asked for, so that no row moves under a finger. */
function UpdatesBar() {
  return (
    <div class="updates" role="status">
      {waiting.value > 0 && (
        <button type="button" class="main" onClick={showNewest}>
          Show {waiting.value} {waiting.value === 1 ? 'update' : 'updates'}
        </button>
      )}
    </div>
  );
}

function List({ board }: { readonly board: Board }) {
  const search = useRef<HTMLInputElement>(null);
  const [isHelping, setHelping] = useState(false);
  const [chosen, setChosen] = useState<ReadonlyMap<string, PullRequest>>(new Map());
  const onHelp = useCallback(() => setHelping(true), []);
  useListKeys({ search, onHelp });

  const choices = useMemo(() => choicesOf(board.pullRequests), [board]);
  const used = withoutVanished(filter.value, choices);
  const rows = useMemo(
    () =>
      applyFilter(
        board.pullRequests.filter((row) => used.snoozed || !row.snooze),
        used,
      ),
    [board, JSON.stringify(used)],
  );
  const groups = useMemo(() => toGroups(rows, used.group), [rows, used.group]);
  const onFilter = useCallback((change: Partial<Filter>) => (filter.value = { ...filter.value, ...change }), []);
  const onLabel = useCallback((label: string) => onFilter({ label }), [onFilter]);
  const onChoose = useCallback((row: PullRequest, isChosen: boolean) => {
    setChosen((before) => {
      const next = new Map(before);
      if (isChosen) next.set(keyOf(row), row);
      else next.delete(keyOf(row));
      return next;
    });
  }, []);
  useMarks();
  useVisit(board);

  const snoozed = board.pullRequests.filter(({ snooze }) => snooze).length + board.hiddenSnoozed;
  return (
    <>
      <Tiles board={board} onFilter={onFilter} />
      <ForgeNotes board={board} />
      <FilterBar
        filter={used}
        choices={choices}
        onFilter={onFilter}
        search={search}
        hidden={{ drafts: board.hiddenDrafts, snoozed }}
      />
      <p class="quiet" role="status">
        {rows.length} of {board.pullRequests.length} shown
      </p>
      <BulkBar chosen={rows.filter((row) => chosen.has(keyOf(row)))} onDone={() => setChosen(new Map())} />
      {groups.map(({ name, rows: members }) => (
        <section key={name} aria-label={name || 'Pull requests'}>
          {name !== '' && (
            <h2>
              {name} <span class="quiet">{members.length}</span>
            </h2>
          )}
          <ul class="pulls">
            {members.map((row) => (
              <PullRequestRow
                key={keyOf(row)}
                row={row}
                isChosen={chosen.has(keyOf(row))}
                onChoose={onChoose}
                onLabel={onLabel}
              />
            ))}
          </ul>
        </section>
      ))}
      {rows.length === 0 && <p>{board.pullRequests.length === 0 ? <Nothing board={board} /> : 'Nothing matches.'}</p>}
      <KeysHelp isOpen={isHelping} onClose={() => setHelping(false)} />
    </>
  );
}

function Nothing({ board }: { readonly board: Board }) {
  if (board.forges.length > 0) return <>No pull request is open.</>;
  return (
    <>
      No forge is set up yet. <a href="/settings">Say where your pull requests are.</a>
    </>
  );
}

/** What is one's own turn, in the title and on the icon. */
function useMarks(): void {
  const turns = useComputed(
    () =>
      newest.value?.pullRequests.filter(
        ({ section, snooze }) => !snooze && (section === 'needs_your_review' || section === 'returned_to_you'),
      ).length ?? 0,
  );
  useEffect(() => {
    markWindow(turns.value, 'Pull requests');
    return () => markWindow(0, 'Pull requests');
  }, [turns.value]);
}

/** Tells the server what was seen, as the page is left. */
function useVisit({ generatedAt }: Board): void {
  const seenAt = useSignal(generatedAt);
  seenAt.value = generatedAt;
  useEffect(() => {
    const leave = (): void => {
      if (document.visibilityState === 'visible') return;
      void dashboard.PUT('/api/dashboard/visit', { body: { seenAt: seenAt.value }, keepalive: true });
    };
    document.addEventListener('visibilitychange', leave);
    return () => document.removeEventListener('visibilitychange', leave);
  }, [seenAt]);
}
