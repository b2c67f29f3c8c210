import { newest, owner } from '../board/board-store.js';

/** How many issues of one's own board are open, once a board was read. */
export function IssueCount() {
  const count = owner.value === '' ? newest.value?.openIssueCount : undefined;
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
