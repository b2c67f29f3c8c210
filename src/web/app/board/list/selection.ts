import { useLocation } from 'preact-iso';
import { useCallback, useEffect } from 'preact/hooks';
import { SELECTION, toSelectionAddress } from '../../ui/address.js';
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
      const selection = target.closest('li.pull')?.getAttribute('data-key') ?? '';
      if (selection !== '') select(selection);
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, [select]);
  return { selected: query[SELECTION] ?? '', select };
}

/** The parts of a row with clicks of their own. */
const OWN_CLICKS = 'a, button, input, label, select, .actions';
