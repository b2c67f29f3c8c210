import { useLayoutEffect } from 'preact/hooks';
import type { RefObject } from 'preact';

interface ListKeys {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onHelp: () => void;
}

/** `j` and `k` walk through the rows, `o` opens one, `m` merges it, `x` chooses it, `/` searches, `?` tells of these. */
export function useListKeys({ search, onHelp }: ListKeys): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isAsking()) return;
      const work = KEYS[event.key] ?? (event.key === '/' ? () => search.current?.focus() : undefined);
      if (event.key === '?') onHelp();
      else if (work === undefined) return;
      else work();
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [search, onHelp]);
  useKeptPlace();
}

const press = (selector: string): void => {
  const button = current()?.querySelector<HTMLElement>(selector);
  // With the focus there, what the button asks is read out, and Enter answers it.
  button?.focus();
  button?.click();
};

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => step(1),
  k: () => step(-1),
  o: () => current()?.querySelector<HTMLElement>('a.open')?.click(),
  m: () => press('.actions > .action button'),
  x: () => press('.choose input'),
  c: () => press('button.ci'),
};

const rows = (): Element[] => [...document.querySelectorAll('li.pull')];

const current = (): Element | null => document.activeElement?.closest('li.pull') ?? null;

/** The focus is on a row's title, where a screen reader says it. */
function step(by: 1 | -1): void {
  const list = rows();
  const at = list.findIndex((row) => row === current());
  focusOn(list[at === -1 ? 0 : at + by]);
}

function focusOn(row: Element | undefined): void {
  row?.querySelector<HTMLElement>('a.open')?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

/**
 * When the row that has the focus goes, the one that takes its place gets it, not the top of the page; when only a button
 * of its menu goes, the menu does.
 */
function useKeptPlace(): void {
  useLayoutEffect(() => {
    let at = -1;
    let menu: Element | null = null;
    const remember = (): void => {
      at = rows().findIndex((row) => row === current());
      menu = document.activeElement?.closest('details.more') ?? null;
    };
    const watcher = new MutationObserver(() => {
      if (at === -1 || document.activeElement !== document.body) return;
      const list = rows();
      if (menu?.isConnected === true) menu.querySelector('summary')?.focus();
      else focusOn(list[Math.min(at, list.length - 1)]);
    });
    document.addEventListener('focusin', remember);
    const list = document.getElementById('content');
    if (list !== null) watcher.observe(list, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', remember);
      watcher.disconnect();
    };
  }, []);
}

const isAsking = (): boolean => document.querySelector('dialog[open]') !== null;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !isCheckbox(target);
}

const isCheckbox = (element: HTMLElement): boolean =>
  element instanceof HTMLInputElement && element.type === 'checkbox';
