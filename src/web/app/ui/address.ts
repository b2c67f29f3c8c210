import { effect, type Signal } from '@preact/signals';
import { type LocationHook, useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** The parameters of an address. */
export type Query = Readonly<Record<string, string>>;

/** How long a search text waits for the next key before it is written to the address. */
const TYPING_PAUSE_MS = 400;

/** Whether changes replace the current entry of the browser's history instead of adding one. */
let isReplacing = false;

/** Applies a change that the user did not make on this page, such as stored filters: Back does not undo it. */
export function withoutHistory(change: () => void): void {
  isReplacing = true;
  try {
    change();
  } finally {
    isReplacing = false;
  }
}

/**
 * Keeps the state of a list and the query string of its page equal. A change adds an entry to the browser's history, so
 * that Back and Forward undo and redo it. An address without parameters keeps the state, which may come from stored
 * preferences; on Back and Forward it stands for the defaults.
 *
 * @param parse returns the state of a query string, or `undefined` if it has none of its parameters
 */
export function useAddress<State extends object>(
  state: Signal<State>,
  defaults: State,
  parse: (query: Query) => State | undefined,
): void {
  // The types of the router omit `wasPush`: whether a link or a call of `route` led to the address.
  const { path, url, query, wasPush, route } = useLocation() as LocationHook & { readonly wasPush: boolean };
  // The router keeps this page on screen while the next one loads, although the address has already changed.
  const own = useRef(path).current;
  const isOpened = useRef(false);
  /** Set while the state follows the address, which must not change the history: Forward would be lost. */
  const isReading = useRef(false);
  const write = (isReplaced: boolean): void => {
    const selection = new URLSearchParams(location.search).get(SELECTION) ?? '';
    const target = withSelection(toAddress(own, state.peek(), defaults), selection);
    if (location.pathname === own && target !== own + location.search) route(target, isReplaced);
  };
  useLayoutEffect(() => {
    if (path !== own) return;
    const found = parse(query);
    const isSilent = found === undefined && (!isOpened.current || wasPush);
    isOpened.current = true;
    if (isSilent) write(true);
    else if (!isEqual(found ?? defaults, state.peek())) {
      isReading.current = true;
      state.value = found ?? defaults;
      isReading.current = false;
    }
  }, [url]);
  useLayoutEffect(() => follow(state, () => isReading.current, write), []);
}

/**
 * Calls `write` for every change of the state that `isIgnored` does not exclude, and once after a text was typed.
 *
 * @returns a function that stops it
 */
function follow<State extends object>(
  state: Signal<State>,
  isIgnored: () => boolean,
  write: (isReplaced: boolean) => void,
): () => void {
  let before = state.peek();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    const now = state.value;
    if (isEqual(now, before)) return;
    const isTyped = isEqual({ ...before, text: '' }, { ...now, text: '' });
    before = now;
    clearTimeout(timer);
    if (isIgnored()) return;
    if (isTyped && !isReplacing) timer = setTimeout(() => write(isSearch(now)), TYPING_PAUSE_MS);
    else write(isReplacing);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** The parameter with the selected row of a list, separate from the filters. */
export const SELECTION = 'row';

/** Returns the current address with a selected row, or without one. */
export function toSelectionAddress(selection: string): string {
  const parameters = new URLSearchParams(location.search);
  parameters.delete(SELECTION);
  const rest = parameters.toString();
  return withSelection(rest === '' ? location.pathname : `${location.pathname}?${rest}`, selection);
}

function withSelection(address: string, selection: string): string {
  if (selection === '') return address;
  return `${address}${address.includes('?') ? '&' : '?'}${SELECTION}=${encodeURIComponent(selection).replaceAll('%2F', '/')}`;
}

/** Returns whether the address and a state both have a search text: a longer one replaces a shorter one in the history. */
const isSearch = (state: object): boolean =>
  new URLSearchParams(location.search).has('text') && 'text' in state && state.text !== '';

const isEqual = (a: object, b: object): boolean =>
  JSON.stringify(Object.entries(a)) === JSON.stringify(Object.entries(b));

/** Returns a path with the members of a state that differ from their defaults. */
export function toAddress<State extends object>(path: string, state: State, defaults: State): string {
  const normal = new Map<string, unknown>(Object.entries(defaults));
  const changed = Object.entries(state).filter(([name, value]) => value !== normal.get(name));
  if (changed.length === 0) return path;
  return `${path}?${new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** Reads the members of a state from a query string; returns `undefined` if it has none of them. */
export function parseAddressState<State extends Readonly<Record<keyof State, boolean | string>>>(
  query: Query,
  defaults: State,
): State | undefined {
  const names = Object.keys(defaults).filter((name) => Object.hasOwn(query, name));
  if (names.length === 0) return undefined;
  const found = names.map((name) => {
    const text = (query[name] ?? '').slice(0, MAX_VALUE_LENGTH);
    return [name, typeof defaults[name as keyof State] === 'boolean' ? text === 'true' : text] as const;
  });
  return { ...defaults, ...Object.fromEntries(found) };
}

/** The longest value of a filter that the server stores. */
const MAX_VALUE_LENGTH = 255;

/** The state of an entry of the browser's history. */
interface EntryState {
  /** The scroll position in pixels. */
  readonly top?: number;
  /** The number of rows that a list shows. */
  readonly shown?: number;
}

export const readEntryState = (): EntryState => (history.state ?? {}) as EntryState;

export const keepInEntry = (part: EntryState): void => history.replaceState({ ...readEntryState(), ...part }, '');

/** The pause after scrolling: some browsers limit the changes of an entry. */
const PAUSE_MS = 200;

/** How long a page may take to load before its position is given up. */
const PATIENCE_MS = 3_000;

/**
 * Keeps the scroll position of each entry of the history, and restores it when Back, Forward or a reload shows its page
 * again. Browsers try so only once, before the page has loaded its data.
 */
export function useScrollPosition(path: string): void {
  // A new entry has no position yet.
  useLayoutEffect(() => {
    const { top = 0 } = readEntryState();
    return top === 0 ? undefined : restore(top);
  }, [path]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const save = (): void => {
      clearTimeout(timer);
      if (readEntryState().top !== scrollY) keepInEntry({ top: scrollY });
    };
    const saveLater = (): void => {
      const { href } = location;
      clearTimeout(timer);
      timer = setTimeout(() => (location.href === href ? save() : undefined), PAUSE_MS);
    };
    addEventListener('scroll', saveLater, { passive: true });
    // A link may be pressed before the pause ends.
    addEventListener('click', save, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', saveLater);
      removeEventListener('click', save, { capture: true });
    };
  }, []);
}

/** Scrolls while the page grows, until the user scrolls, or presses anything. Returns a function that stops it. */
function restore(top: number): () => void {
  const listeners = new AbortController();
  const { signal } = listeners;
  const until = performance.now() + PATIENCE_MS;
  let isThere = false;
  const step = (): void => {
    // While a page loads again, it may be too short for a moment.
    isThere &&= document.documentElement.scrollHeight - innerHeight >= top;
    // Pages do not notice that a scroll bar is dragged.
    const isLeft = isThere && Math.abs(scrollY - top) > 1;
    if (signal.aborted || isLeft || performance.now() > until) return;
    scrollTo(0, top);
    isThere = Math.abs(scrollY - top) <= 1;
    requestAnimationFrame(step);
  };
  for (const event of ['keydown', 'pointerdown', 'wheel'])
    addEventListener(event, () => listeners.abort(), { signal, passive: true });
  step();
  return () => listeners.abort();
}
