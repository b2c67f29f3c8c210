import { useEffect, useState } from 'preact/hooks';
import { isNarrowScreen } from '../ui/screen.js';
import { BLOCK_SIZE } from './blocks.js';

/** Returns how many rows of a long list to draw: the first screen at once, the rest while the browser is idle. */
export function useProgressiveRendering(total: number, list: string): number {
  const [drawn, setDrawn] = useState(() => ({ list, count: countFirst() }));
  const count = drawn.list === list ? drawn.count : countFirst();
  useEffect(() => {
    if (count >= total) return;
    return whenIdle(() => setDrawn({ list, count: count + BLOCK_SIZE }));
  }, [count, total, list]);
  return count;
}

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

/** Reads heights, which needs no extra layout right after a scroll frame. */
const isNearEnd = (): boolean =>
  document.documentElement.scrollHeight - window.scrollY < SCREENS_AHEAD * window.innerHeight;

const SCREENS_AHEAD = 4;
