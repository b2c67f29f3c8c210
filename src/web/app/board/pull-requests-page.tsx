import { useLayoutEffect } from 'preact/hooks';
import { BoardHead } from './board-head.js';
import { boardError, shownBoard, pendingUpdates } from './board-store.js';
import { readFilterFromUrl } from './filter-url.js';
import { pullRequestFilter, syncFilters } from './filter-store.js';
import { preloadBoard, useBoard } from './follow-board.js';
import { PullRequestList } from './pull-request-list.js';
import { UpdatesBar } from './updates-bar.js';
import { loadViews } from './views-store.js';
import './board.css';

/** Starts loading the data of the page before it is drawn. */
export const preloadPullRequests = (): Promise<void> => preloadBoard(pullRequestFilter.value.drafts);

export function PullRequestsPage() {
  const { drafts } = pullRequestFilter.value;
  useLayoutEffect(() => syncFilters(readFilterFromUrl()), []);
  useBoard(drafts);
  useLayoutEffect(() => void loadViews(), []);
  const board = shownBoard.value;
  return (
    <>
      <BoardHead title="Pull requests" includeDrafts={drafts} />
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <PullRequestList board={board} />
      )}
      <UpdatesBar count={pendingUpdates.value} />
    </>
  );
}
