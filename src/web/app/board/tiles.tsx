import { boardOwner } from './board-store.js';
import type { Filter } from './filter.js';
import type { Board } from './rows.js';

interface TilesProps {
  readonly board: Board;
  readonly onFilter: (change: Partial<Filter>) => void;
}

/** The three key figures of a board; each links to the rows that it counts. */
export function Tiles({ board, onFilter }: TilesProps) {
  const failing = board.pullRequests.filter(({ ci }) => ci === 'failure').length;
  const repositories = (
    <>
      <strong>{board.repos.length}</strong> repositories
    </>
  );
  return (
    <div class="tiles">
      <button type="button" class="tile" onClick={() => onFilter({ pill: 'all' })}>
        <strong>{board.pullRequests.length}</strong> open
      </button>
      <button type="button" class={`tile ${failing > 0 ? 'bad' : ''}`} onClick={() => onFilter({ pill: 'failing' })}>
        <strong>{failing}</strong> failing CI
      </button>
      {boardOwner.value === '' ? (
        <a class="tile" href="/repositories">
          {repositories}
        </a>
      ) : (
        <div class="tile">{repositories}</div>
      )}
    </div>
  );
}
