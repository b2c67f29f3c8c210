import { BoardHead } from './board-head.js';
import { boardError, shownBoard } from './board-store.js';
import { useBoard } from './follow-board.js';
import { ForgeNotices } from './forge-notices.js';
import { RepositoryList } from './repository-list.js';
import './board.css';

/** The repositories of the board with their webhooks, visibility and automation. */
export function RepositoriesPage() {
  useBoard(true);
  const board = shownBoard.value;
  return (
    <>
      <BoardHead title="Repositories" includeDrafts />
      <p class="quiet">
        With a webhook, changes appear instantly; otherwise at the next refresh. <a href="/">Pull requests</a>
      </p>
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          <RepositoryList repositories={board.repos} />
        </>
      )}
    </>
  );
}
