import type { RefObject } from 'preact';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { SEARCH_TERMS } from '../../../../board-search/board-search.js';
import { SELECTION, toSelectionAddress } from '../../ui/address.js';
import { onFocusLost } from '../../ui/buttons.js';
import { getRowKey, type PullRequest } from '../data/rows.js';

interface Selection {
  /** The address form of the pull request in the side panel, such as `github/acme/shop/17`; empty without one. */
  readonly selected: string;
  /** Opens the side panel for a pull request; an empty text closes it. Back undoes it, unless `isReplaced`. */
  readonly select: (selection: string, isReplaced?: boolean) => void;
}

/** Returns the address form of a pull request. Names of repositories contain no spaces. */
export const toSelection = (row: PullRequest): string => getRowKey(row).replaceAll(' ', '/');

/** The pull request in the side panel, which is in the address of the page. A click on a row selects it. */
export function useSelection(): Selection {
  const { query, route } = useLocation();
  const select = useCallback(
    (selection: string, isReplaced = false) => {
      const target = toSelectionAddress(selection);
      if (target !== location.pathname + location.search) route(target, isReplaced);
    },
    [route],
  );
  useEffect(() => {
    const onClick = ({ target }: Event): void => {
      if (!(target instanceof Element) || target.closest(OWN_CLICKS) !== null) return;
      // The end of a selection of text is a click, too.
      if (document.getSelection()?.isCollapsed === false) return;
      const selection = target.closest('.pull')?.getAttribute('data-key') ?? '';
      if (selection !== '') select(selection);
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, [select]);
  return { selected: query[SELECTION] ?? '', select };
}

/** The parts of a row with clicks of their own. */
const OWN_CLICKS = 'a, button, input, label, select, .actions';

interface ListKeys {
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onHelp: () => void;
  /** Opens the side panel for the row with an address form. */
  readonly onSelect: (selection: string, isReplaced?: boolean) => void;
}

/** Keyboard shortcuts of the list; {@link KeyboardShortcuts} lists them. */
export function useListKeys({ search, onHelp, onSelect }: ListKeys): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isDialogOpen()) return;
      const own: Keys = {
        j: () => step(1, onSelect),
        k: () => step(-1, onSelect),
        c: () => onSelect(keyOf(current()) || keyOf(rows()[0])),
        '/': () => search.current?.focus(),
      };
      const work = own[event.key] ?? KEYS[event.key];
      if (event.key === '?') onHelp();
      else if (work === undefined) return;
      else work();
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [search, onHelp, onSelect]);
  useFocusRestoration();
}

/** Presses a button of the focused row. Returns whether the row has it. */
const press = (selector: string): boolean => {
  const button = (panel() ?? current())?.querySelector<HTMLElement>(selector);
  // With the focus on the button, screen readers read its confirmation out and Enter confirms it.
  button?.focus();
  button?.click();
  return Boolean(button);
};

type Keys = Readonly<Record<string, () => unknown>>;

const KEYS: Keys = {
  o: () => current()?.querySelector<HTMLElement>('a.open')?.click(),
  m: () => press('.actions > .action button') || press('.actions > .more > summary'),
  r: () => press('.actions > .review'),
  x: () => press('.choose input'),
  z: () => document.querySelector<HTMLElement>('.toast .undo')?.click(),
};

const rows = (): Element[] => [...document.querySelectorAll('.pull')];

/** The focused row, or the one in the side panel. */
const current = (): Element | null =>
  document.activeElement?.closest('.pull') ?? document.querySelector('.pull[aria-current]');

/** The side panel, which has the actions of its row. */
const panel = (): Element | null => document.querySelector('.panel');

const keyOf = (row: Element | null | undefined): string => row?.getAttribute('data-key') ?? '';

/** Focuses the title of the next or previous row. With an open side panel, it shows the row instead. */
function step(by: 1 | -1, onSelect: ListKeys['onSelect']): void {
  const list = rows();
  const at = list.findIndex((row) => row === current());
  const next = list[at === -1 ? 0 : at + by];
  if (panel() === null) focusOn(next);
  else if (next !== undefined) onSelect(keyOf(next), true);
}

function focusOn(row: Element | undefined): void {
  row?.querySelector<HTMLElement>('a.open')?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

/**
 * Restores the focus when the focused element is removed: on the row that takes the place of a removed row, or on the
 * menu of a removed button. The browser would move it to the top of the page. A focus that a press beside all elements has
 * taken away is not restored.
 */
function useFocusRestoration(): void {
  useLayoutEffect(() => {
    let at = -1;
    let menu: Element | null = null;
    const remember = (): void => {
      at = rows().findIndex((row) => row === current());
      menu = document.activeElement?.closest('details.more') ?? null;
    };
    const forget = (event: FocusEvent): void => onFocusLost(event, () => (at = -1));
    const watcher = new MutationObserver(() => {
      if (at === -1 || document.activeElement !== document.body) return;
      const list = rows();
      if (menu?.isConnected === true) menu.querySelector('summary')?.focus();
      else focusOn(list[Math.min(at, list.length - 1)]);
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', forget);
    const list = document.getElementById('content');
    if (list !== null) watcher.observe(list, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', forget);
      watcher.disconnect();
    };
  }, []);
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !isCheckbox(target);
}

const isCheckbox = (element: HTMLElement): boolean =>
  element instanceof HTMLInputElement && element.type === 'checkbox';

const SHORTCUTS = [
  ['j, k', 'Next / previous row'],
  ['o', 'Open on the code host'],
  ['r', 'Review: open the changes on the code host'],
  ['m', 'Merge, or the next step of the row; press again to confirm. Opens the menu if there is none'],
  ['c', 'Show checks, reviews and comments beside the list; j and k show other rows'],
  ['x', 'Select'],
  ['z', 'Undo, while the message of the action is shown'],
  ['/', 'Search pull requests'],
  ['Ctrl K', 'Search everything; ⌘ K on a Mac'],
  ['Esc', 'Cancel; close the details'],
  ['?', 'Show this list'],
] as const;

/** A modal dialog with the shortcuts of the list. The browser traps the focus and closes the dialog on Escape. */
export function KeyboardShortcuts({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // The focus is on the button below the list.
    dialog.current?.scrollTo(0, 0);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <dl>
        {SHORTCUTS.map(([key, description]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <h2>Search</h2>
      <dl class="terms">
        {Object.entries(SEARCH_TERMS).map(([example, description]) => (
          <div key={example}>
            <dt>
              <code>{example}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        All words and terms must match. <code>-</code> excludes, as in <code>-label:wip</code>; commas separate
        alternatives, as in <code>ci:failure,pending</code>.
      </p>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
