import { useLayoutEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** How wide an element is, in pixels, as it changes; 0 until it is there. */
export function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null) return;
    const measure = (): void => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
