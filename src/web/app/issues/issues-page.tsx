import { useLayoutEffect, useMemo } from 'preact/hooks';
import { BoardHead } from '../board/board-head.js';
import { boardError, shownBoard, pendingIssueUpdates } from '../board/board-store.js';
import { Chip } from '../board/chip.js';
import { syncFilters } from '../board/filter-store.js';
import { useBoard } from '../board/follow-board.js';
import { ForgeNotices } from '../board/forge-notices.js';
import { FORGE_NAMES, getRowKey } from '../board/rows.js';
import type { Issue } from '../board/rows.js';
import { UpdatesBar } from '../board/updates-bar.js';
import { useProgressiveRendering } from '../board/use-progressive-rendering.js';
import { RelativeTime } from '../ui/relative-time.js';
import {
  applyIssueFilter,
  changeIssueFilter,
  listIssueFilterOptions,
  issueFilter,
  dropUnavailableIssueValues,
} from './issue-filter.js';
import { IssueFilters } from './issue-filters.js';
import '../board/board.css';

export function IssuesPage() {
  useLayoutEffect(() => syncFilters(), []);
  useBoard(false);
  const board = shownBoard.value;
  return (
    <>
      <BoardHead title="Issues" includeDrafts={false} />
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          <Issues issues={board.issues} />
        </>
      )}
      <UpdatesBar count={pendingIssueUpdates.value} />
    </>
  );
}

function Issues({ issues }: { readonly issues: readonly Issue[] }) {
  const choices = useMemo(() => listIssueFilterOptions(issues), [issues]);
  const used = useMemo(() => dropUnavailableIssueValues(issueFilter.value, choices), [issueFilter.value, choices]);
  const selected = useMemo(() => applyIssueFilter(issues, used), [issues, used]);
  const drawn = useProgressiveRendering(selected.length, JSON.stringify(used));
  const housekeeping = issues.filter((issue) => issue.housekeeping).length;
  return (
    <>
      <IssueFilters {...{ used, choices, housekeeping }} />
      <p class="quiet" role="status">
        {selected.length} of {issues.length} shown
      </p>
      <ul class="pulls">
        {selected.slice(0, drawn).map((issue) => (
          <IssueRow key={getRowKey(issue)} issue={issue} />
        ))}
      </ul>
      {selected.length === 0 && <p>{issues.length === 0 ? 'No open issues.' : 'No issues match the filters.'}</p>}
    </>
  );
}

function IssueRow({ issue }: { readonly issue: Issue }) {
  return (
    <li class="pull issue">
      <div class="about">
        <div class="title">
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
          <span class="repo">{issue.repo}</span> #{issue.number} · {FORGE_NAMES[issue.forge]} · {issue.author} ·{' '}
          <RelativeTime time={issue.updatedAt} />
        </div>
      </div>
    </li>
  );
}
