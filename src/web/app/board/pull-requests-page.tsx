import { useLayoutEffect } from 'preact/hooks';
import { BoardHead } from './board-head.js';
import { problem, shown, waiting } from './board-store.js';
import { takeAddress } from './filter-address.js';
import { filter, keepFilters } from './filter-store.js';
import { beginBoard, useBoard } from './follow-board.js';
import { PullRequestList } from './pull-request-list.js';
import { UpdatesBar } from './updates-bar.js';
import { loadViews } from './views-store.js';
import './board.css';

/** Starts loading the data of the page before it is drawn. */
export const beginPullRequests = (): Promise<void> => beginBoard(filter.value.drafts);

export function PullRequestsPage() {
  const { drafts } = filter.value;
  useLayoutEffect(() => keepFilters(takeAddress()), []);
  useBoard(drafts);
  useLayoutEffect(() => void loadViews(), []);
  const board = shown.value;
  return (
    <>
      <BoardHead title="Pull requests" includeDrafts={drafts} />
      {board === undefined ? (
        problem.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <PullRequestList board={board} />
      )}
      <UpdatesBar count={waiting.value} />
    </>
  );
}
