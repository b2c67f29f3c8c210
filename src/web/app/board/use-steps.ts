import { useEffect, useState } from 'preact/hooks';
import { isNarrow } from '../shell/screen.js';
import { BLOCK } from './blocks.js';

/** How much of a long list is drawn: what fits the screen at once, and the rest while the browser is idle. */
export function useSteps(total: number, list: string): number {
  const [drawn, setDrawn] = useState(() => ({ list, count: countFirst() }));
  const count = drawn.list === list ? drawn.count : countFirst();
  useEffect(() => {
    if (count >= total) return;
    return whenIdle(() => setDrawn({ list, count: count + BLOCK }));
  }, [count, total, list]);
  return count;
}

/** In pixels, at least: what stands above a list, and its rows, which are a line or two where there is room. */
const LOWEST = { head: 300, row: 50, narrowRow: 110 };

/** By the screen: to ask how high the window is has the page laid out that is just being drawn. */
const countFirst = (): number =>
  Math.ceil(Math.max(screen.height - LOWEST.head, 1) / (isNarrow.peek() ? LOWEST.narrowRow : LOWEST.row));

/** Between frames of a thumb that scrolls there is no time to draw rows. */
const STILL_MS = 250;

/** Lets the browser do what else there is between two blocks. */
const REST_MS = 50;

/** Waits while somebody scrolls, unless they come near the end of what is drawn. */
function whenIdle(work: () => void): () => void {
  let timer = setTimeout(work, REST_MS);
  const onScroll = (): void => {
    clearTimeout(timer);
    timer = setTimeout(work, isNearEnd() ? 0 : STILL_MS);
  };
  window.addEventListener('scroll', onScroll, { passive: true });
  return () => {
    clearTimeout(timer);
    window.removeEventListener('scroll', onScroll);
  };
}

/** Reading the height lays the page out, which a frame of scrolling did just before. */
const isNearEnd = (): boolean =>
  document.documentElement.scrollHeight - window.scrollY < SCREENS_AHEAD * window.innerHeight;

const SCREENS_AHEAD = 4;
