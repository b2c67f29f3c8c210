import { useLayoutEffect, useMemo } from 'preact/hooks';
import { BoardHead } from '../board/board-head.js';
import { problem, shown, waitingIssues } from '../board/board-store.js';
import { Chip } from '../board/chip.js';
import { keepFilters } from '../board/filter-store.js';
import { useBoard } from '../board/follow-board.js';
import { ForgeNotes } from '../board/forge-notes.js';
import { FORGE_NAMES, keyOf } from '../board/rows.js';
import type { Issue } from '../board/rows.js';
import { UpdatesBar } from '../board/updates-bar.js';
import { useSteps } from '../board/use-steps.js';
import { Ago } from '../shell/ago.js';
import { applyFilter, change, choicesOf, filter, withoutVanished } from './issue-filter.js';
import { IssueFilters } from './issue-filters.js';
import '../board/board.css';

export function IssuesPage() {
  useLayoutEffect(() => keepFilters(), []);
  useBoard(false);
  const board = shown.value;
  return (
    <>
      <BoardHead title="Issues" includeDrafts={false} />
      {board === undefined ? (
        problem.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotes board={board} />
          <Issues issues={board.issues} />
        </>
      )}
      <UpdatesBar count={waitingIssues.value} />
    </>
  );
}

function Issues({ issues }: { readonly issues: readonly Issue[] }) {
  const choices = useMemo(() => choicesOf(issues), [issues]);
  const used = useMemo(() => withoutVanished(filter.value, choices), [filter.value, choices]);
  const selected = useMemo(() => applyFilter(issues, used), [issues, used]);
  const drawn = useSteps(selected.length, JSON.stringify(used));
  const housekeeping = issues.filter((issue) => issue.housekeeping).length;
  return (
    <>
      <IssueFilters {...{ used, choices, housekeeping }} />
      <p class="quiet" role="status">
        {selected.length} of {issues.length} shown
      </p>
      <ul class="pulls">
        {selected.slice(0, drawn).map((issue) => (
          <IssueRow key={keyOf(issue)} issue={issue} />
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
            <Chip key={name} color={color} onClick={() => change({ label: name })}>
              {name}
            </Chip>
          ))}
        </div>
        <div class="where quiet">
          <span class="repo">{issue.repo}</span> #{issue.number} · {FORGE_NAMES[issue.forge]} · {issue.author} ·{' '}
          <Ago time={issue.updatedAt} />
        </div>
      </div>
    </li>
  );
}
