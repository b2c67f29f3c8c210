import { showNewest } from './board-store.js';

/**
 * A button, over the page, that shows waiting updates. They wait so that no row moves while the user is about to press
 * it.
 */
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
