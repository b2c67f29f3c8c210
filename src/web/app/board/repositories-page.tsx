import { BoardHead } from './board-head.js';
import { problem, shown } from './board-store.js';
import { useBoard } from './follow-board.js';
import { ForgeNotes } from './forge-notes.js';
import { RepositoryList } from './repository-list.js';
import './board.css';

/** The repositories of the board with their webhooks, visibility and automation. */
export function RepositoriesPage() {
  useBoard(true);
  const board = shown.value;
  return (
    <>
      <BoardHead title="Repositories" includeDrafts />
      <p class="quiet">
        With a webhook, changes appear instantly; otherwise at the next refresh. <a href="/">Pull requests</a>
      </p>
      {board === undefined ? (
        problem.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotes board={board} />
          <RepositoryList repositories={board.repos} />
        </>
      )}
    </>
  );
}
