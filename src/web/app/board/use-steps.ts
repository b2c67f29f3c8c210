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

/** Not every browser says when it is idle. */
const BUSY_MS = 30;

function whenIdle(work: () => void): () => void {
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(work, BUSY_MS);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work);
  return () => cancelIdleCallback(handle);
}
