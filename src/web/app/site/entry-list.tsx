import type { ComponentChildren, RefObject } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { onFocusLost } from '../ui/buttons.js';

/**
 * Moves the focus between the links of a list with the arrow keys, Home and End. Up and Down move by one row of the
 * layout. Only one link is a tab stop: the last focused or the current one.
 *
 * @param shown A key that changes with the content of the list.
 */
export function useArrowKeys<List extends HTMLElement = HTMLUListElement>(shown: string): RefObject<List | null> {
  const list = useRef<List>(null);
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
    // The focused link was removed when its target replaced the list.
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
    const onLeave = (event: FocusEvent): void => {
      if (event.relatedTarget !== null) holdsFocus.current = false;
      onFocusLost(event, () => (holdsFocus.current = false));
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

/** Returns the index that a key leads to: -1 for other keys, and an index without a link beyond the ends. */
function findNext(links: readonly HTMLElement[], at: number, { key }: KeyboardEvent): number {
  const top = links[0]?.offsetTop;
  const columns = links.filter(({ offsetTop }) => offsetTop === top).length;
  const last = links.length - 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at - columns,
    // From the last full row, Down reaches the last link even if the row below is shorter.
    ArrowDown: at + columns > last && rowOf(at, columns) < rowOf(last, columns) ? last : at + columns,
    Home: 0,
    End: last,
  };
  return steps[key] ?? -1;
}

const rowOf = (at: number, columns: number): number => Math.floor(at / columns);

interface PagerProps {
  readonly page: number;
  /** The number of items on all pages. */
  readonly count: number;
  /** The number of items on one page. */
  readonly size: number;
  readonly linkTo: (page: number) => string;
}

/** Links to the previous and the next page; renders nothing for a single page. */
export function Pagination({ page, count, size, linkTo }: PagerProps) {
  const pages = Math.max(1, Math.ceil(count / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav aria-label="Pagination" class="pagination">
      {page > 1 && (
        <a class="button" href={linkTo(Math.min(page - 1, pages))}>
          Previous
        </a>
      )}
      <span class="quiet">
        Page {page} of {pages}
      </span>
      {page < pages && (
        <a class="button" href={linkTo(page + 1)}>
          Next
        </a>
      )}
    </nav>
  );
}

/** Waits for the user to stop typing, so that not every letter starts a search. */
const SEARCH_DELAY_MS = 300;

interface SearchFieldProps {
  readonly label: string;
  readonly search: string;
  readonly maxLength: number;
  readonly onSearch: (search: string) => void;
}

/** A search field that reports its text once the user stops typing. */
export function SearchField({ label, search, maxLength, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const searched = text.trim();
  useEffect(() => {
    if (searched === search) return;
    const timer = setTimeout(() => onSearch(searched), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  });
  return (
    <label class="search">
      {label}
      <input
        type="search"
        maxLength={maxLength}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}

interface PanelProps {
  readonly title: string;
  /** The address of the page without this panel. */
  readonly closeTo: string;
  /** The id of the element that opened the panel. */
  readonly openedBy: string;
  readonly children: ComponentChildren;
}

/** Details beside a list. The panel takes the focus when it opens. Escape closes it and returns the focus. */
export function DetailsPanel({ title, closeTo, openedBy, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { route } = useLocation();
  const isClosed = useRef(false);
  const close = (): void => {
    isClosed.current = true;
    route(closeTo);
  };
  useEffect(() => {
    const { current } = heading;
    current?.focus({ preventScroll: true });
    // On narrow screens the panel is below the list.
    if (current && current.getBoundingClientRect().top > innerHeight) current.scrollIntoView();
    return () => {
      // Waits for the next frame, as narrow screens hide the list while the panel is open.
      if (isClosed.current) requestAnimationFrame(() => document.getElementById(openedBy)?.focus());
    };
  }, [openedBy]);
  return (
    <section
      class="details"
      aria-label={title}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
    >
      <div class="details-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {children}
    </section>
  );
}
