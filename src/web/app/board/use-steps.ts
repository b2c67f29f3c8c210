import { useEffect, useState } from 'preact/hooks';

/** Fills any screen. */
const FIRST = 30;

/** Takes about a frame of a phone. */
const STEP = 40;

/** How much of a long list is drawn: what fits a screen at once, and the rest while the browser is idle. */
export function useSteps(total: number, list: string): number {
  const [drawn, setDrawn] = useState({ list, count: FIRST });
  const count = drawn.list === list ? drawn.count : FIRST;
  useEffect(() => {
    if (count >= total) return;
    return whenIdle(() => setDrawn({ list, count: count + STEP }));
  }, [count, total, list]);
  return count;
}

/** Between frames of a thumb that scrolls there is no time to draw rows. */
const STILL_MS = 250;

/** Waits while somebody scrolls, unless they come near the end of what is drawn. */
function whenIdle(work: () => void): () => void {
  let timer = setTimeout(run, 0);
  function run(): void {
    if (isNearEnd()) work();
    else timer = setTimeout(work, STILL_MS);
  }
  const onScroll = (): void => {
    clearTimeout(timer);
    timer = setTimeout(run, isNearEnd() ? 0 : STILL_MS);
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
