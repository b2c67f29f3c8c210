import { useEffect } from 'preact/hooks';
import type { RefObject } from 'preact';

interface ListKeys {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onHelp: () => void;
}

/** `j` and `k` walk through the rows, `o` opens one, `m` merges it, `x` chooses it, `/` searches, `?` tells of these. */
export function useListKeys({ search, onHelp }: ListKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const work = KEYS[event.key] ?? (event.key === '/' ? () => search.current?.focus() : undefined);
      if (event.key === '?') onHelp();
      else if (work === undefined) return;
      else work();
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [search, onHelp]);
}

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => step(1),
  k: () => step(-1),
  o: () => current()?.querySelector<HTMLElement>('a.open')?.click(),
  m: () => current()?.querySelector<HTMLElement>('.actions > .action button')?.click(),
  x: () => current()?.querySelector<HTMLElement>('input.choose')?.click(),
  c: () => current()?.querySelector<HTMLElement>('button.ci')?.click(),
};

const current = (): Element | null => document.activeElement?.closest('li.pull') ?? null;

/** The focus is on a row's title, where a screen reader says it. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll('li.pull')];
  const at = rows.findIndex((row) => row === current());
  const next = rows[at === -1 ? 0 : at + by];
  next?.querySelector<HTMLElement>('a.open')?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !isCheckbox(target);
}

const isCheckbox = (element: HTMLElement): boolean =>
  element instanceof HTMLInputElement && element.type === 'checkbox';
