import { newestBoard, boardOwner } from '../board/board-store.js';

/** The number of open issues on the user's own board, once a board is loaded. */
export function IssueCount() {
  const count = boardOwner.value === '' ? newestBoard.value?.openIssueCount : undefined;
  return (
    <span class={`badge ${count ? 'known' : ''}`}>
      {Boolean(count) && (
        <>
          {count}
          <span class="aside"> open</span>
        </>
      )}
    </span>
  );
}
