import { showNewest } from './board-store.js';

/** What came since waits until it is asked for, so that no row moves under a finger. It stands over the page, and moves nothing itself. */
export function UpdatesBar({ count }: { readonly count: number }) {
  return (
    <div class="updates" role="status">
      {count > 0 && (
        <button type="button" class="main" onClick={showNewest}>
          Show {count} {count === 1 ? 'update' : 'updates'}
        </button>
      )}
    </div>
  );
}
