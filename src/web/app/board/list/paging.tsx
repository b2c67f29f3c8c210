import { useEffect, useState } from 'preact/hooks';
import { isNarrowScreen } from '../../ui/filters.js';
import { BLOCK_SIZE } from '../filter/filter.js';

interface Paged<Row> {
  readonly rows: readonly Row[];
  /** Starts at 0. */
  readonly page: number;
  readonly pages: number;
  readonly go: (page: number) => void;
}

/** Returns the current page of a list. A new value of `list` starts at the first page. */
export function usePage<Row>(rows: readonly Row[], size: number, list: string): Paged<Row> {
  const [at, setAt] = useState({ list, page: 0 });
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = at.list === list ? Math.min(at.page, pages - 1) : 0;
  return {
    ...{ page, pages },
    rows: pages === 1 ? rows : rows.slice(page * size, (page + 1) * size),
    go: (next) => setAt({ list, page: next }),
  };
}

/** Buttons to change the page, if there are several. They are not removed at the ends, so that they keep the focus. */
export function Pager({ page, pages, go }: Omit<Paged<unknown>, 'rows'>) {
  if (pages === 1) return null;
  const step = (name: string, next: number) => (
    <button
      type="button"
      aria-disabled={next < 0 || next >= pages}
      onClick={() => (next < 0 || next >= pages ? undefined : go(next))}
    >
      {name}
    </button>
  );
  return (
    <nav class="pager" aria-label="Pages of the list">
      {step('Previous', page - 1)}
      <span role="status">
        Page {page + 1} of {pages}
      </span>
      {step('Next', page + 1)}
    </nav>
  );
}

interface Drawn {
  /** The number of rows to draw. */
  readonly count: number;
  /** The number of rows that only scrolling draws. */
  readonly rest: number;
  /** Draws the rest without scrolling. */
  readonly showAll: () => void;
}

/**
 * Returns how many rows of a long list to draw: the first screen at once, more while the browser is idle, and the rest when
 * scrolling comes near. At least the first `least` rows are drawn. A new value of `list` starts again.
 */
export function useProgressiveRendering(total: number, list: string, least = 0): Drawn {
  const [drawn, setDrawn] = useState(() => ({ list, count: countFirst(), isAll: false }));
  const { count, isAll } = drawn.list === list ? drawn : { count: countFirst(), isAll: false };
  const shown = Math.max(count, least);
  const isEager = isAll || shown < IDLE_ROWS;
  useEffect(() => {
    if (shown > count) setDrawn({ list, count: shown, isAll });
    if (shown !== count || shown >= total) return;
    const grow = (): void => setDrawn({ list, count: shown + BLOCK_SIZE, isAll });
    return isEager ? whenIdle(grow) : whenNearEnd(grow);
  }, [shown, count, total, list, isAll]);
  const rest = isEager ? 0 : Math.max(total - shown, 0);
  return { count: shown, rest, showAll: () => setDrawn({ list, count: shown, isAll: true }) };
}

/** A button for the rows of a list that are not drawn yet: to find them in the page, to print them, or to read them aloud. */
export function UndrawnRows({ rest, showAll }: Omit<Drawn, 'count'>) {
  if (rest === 0) return null;
  return (
    <p class="undrawn">
      <button type="button" class="plain" onClick={showAll}>
        Show the other {rest.toLocaleString()}
      </button>
    </p>
  );
}

/** Rows that are drawn without scrolling. With thousands in the document, every press and key takes longer. */
const IDLE_ROWS = 100;

/** Minimum heights in pixels of the page above a list and of a row. */
const MIN_HEIGHTS = { head: 300, row: 50, narrowRow: 110 };

/** Uses the height of the screen: reading that of the window would force a layout while the page is being drawn. */
const countFirst = (): number =>
  Math.ceil(
    Math.max(screen.height - MIN_HEIGHTS.head, 1) / (isNarrowScreen.peek() ? MIN_HEIGHTS.narrowRow : MIN_HEIGHTS.row),
  );

/** The delay after scrolling: between the frames of a scroll there is no time to draw rows. */
const SCROLL_DELAY_MS = 250;

/** The pause between two blocks, in which the browser can handle other work. */
const PAUSE_MS = 50;

/** Calls `work` after a pause. Scrolling delays it, unless the end of the drawn rows is near. */
function whenIdle(work: () => void): () => void {
  let timer = setTimeout(work, PAUSE_MS);
  const onScroll = (): void => {
    clearTimeout(timer);
    timer = setTimeout(work, isNearEnd() ? 0 : SCROLL_DELAY_MS);
  };
  window.addEventListener('scroll', onScroll, { passive: true });
  return () => {
    clearTimeout(timer);
    window.removeEventListener('scroll', onScroll);
  };
}

/** Calls `work` once when the end of the drawn rows is near. */
function whenNearEnd(work: () => void): () => void {
  const check = (): void => {
    if (isNearEnd()) work();
  };
  const timer = setTimeout(check, PAUSE_MS);
  window.addEventListener('scroll', check, { passive: true });
  return () => {
    clearTimeout(timer);
    window.removeEventListener('scroll', check);
  };
}

/** Reads heights, which needs no extra layout right after a scroll frame. */
const isNearEnd = (): boolean =>
  document.documentElement.scrollHeight - window.scrollY < SCREENS_AHEAD * window.innerHeight;

const SCREENS_AHEAD = 4;
