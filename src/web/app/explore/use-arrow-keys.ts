import { useEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

/**
 * Moves the focus between the links of a list by the arrow keys, up and down by what lies there, Home and End. Of all
 * links only one is reached by Tab: the one that had the focus last, or the chosen one.
 *
 * @param shown Changes with what is in the list.
 */
export function useArrowKeys(shown: string): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const holdsFocus = useRef(false);
  useEffect(() => {
    const { current } = list;
    if (current === null) return;
    const links = [...current.querySelectorAll('a')];
    const stopAt = (stop: HTMLElement | undefined): void => {
      for (const link of links) link.tabIndex = link === stop ? 0 : -1;
    };
    const held = links.find((link) => link === document.activeElement || link.ariaCurrent === 'true');
    stopAt(held ?? links[0]);
    // What had the focus has gone with the list that it led away from.
    if (holdsFocus.current && document.activeElement === document.body) links[0]?.focus();
    const onKey = (event: KeyboardEvent): void => {
      const next = links[findNext(links, links.indexOf(document.activeElement as HTMLAnchorElement), event)];
      if (next === undefined || hasModifier(event)) return;
      event.preventDefault();
      next.focus();
    };
    const onFocus = ({ target }: FocusEvent): void => {
      holdsFocus.current = true;
      if (target instanceof HTMLElement) stopAt(target);
    };
    const onLeave = ({ relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null) holdsFocus.current = false;
    };
    const listening = new AbortController();
    const { signal } = listening;
    current.addEventListener('keydown', onKey, { signal });
    current.addEventListener('focusin', onFocus, { signal });
    current.addEventListener('focusout', onLeave, { signal });
    return () => listening.abort();
  }, [shown]);
  return list;
}

const hasModifier = ({ altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean =>
  altKey || ctrlKey || metaKey || shiftKey;

/** The place that a key leads to from another; none for other keys, and beyond the ends. */
function findNext(links: readonly HTMLElement[], at: number, { key }: KeyboardEvent): number {
  const top = links[0]?.offsetTop;
  const columns = links.filter(({ offsetTop }) => offsetTop === top).length;
  const last = links.length - 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at - columns,
    // From the last row but one, also to what is not exactly below.
    ArrowDown: at + columns > last && rowOf(at, columns) < rowOf(last, columns) ? last : at + columns,
    Home: 0,
    End: last,
  };
  return steps[key] ?? -1;
}

const rowOf = (at: number, columns: number): number => Math.floor(at / columns);
