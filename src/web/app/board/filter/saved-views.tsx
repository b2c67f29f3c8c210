import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../../api.js';
import { consumePreloaded, preloadedBoard } from '../../page-data.js';
import { ConfirmButton, CopyButton, useAction } from '../../ui/buttons.js';
import { Menu } from '../../ui/menu.js';
import { showToast } from '../../ui/toasts.js';
import type { Writable } from '../data/rows.js';
import { toFilterUrl } from './filter-store.js';
import type { Filter } from './filter.js';
import { type SavedView, toView, toViewName } from './views.js';

interface ViewsMenuProps {
  readonly filter: Filter;
  readonly onFilter: (change: Partial<Filter>) => void;
}

/**
 * A menu that saves the current filter as a view for this page, feeds and scripts, and renames or deletes the open
 * view.
 */
export function ViewsMenu({ filter, onFilter }: ViewsMenuProps) {
  const [text, setText] = useState('');
  const name = toViewName(text === '' ? filter.view : text);
  const isTaken = savedViews.value?.some((view) => view.name === name) === true;
  const [isBusy, save] = useAction(async () => {
    await saveView(name, filter, isTaken);
    onFilter({ ...openedAs(filter), view: name });
    setText('');
    showToast(`View “${name}” saved.`);
  });
  /** Renames the saved view; current changes to the filter are not saved. */
  const rename = async (): Promise<void> => {
    await renameView(filter.view, name);
    onFilter({ view: name });
    setText('');
    showToast(`View “${filter.view}” renamed to “${name}”.`);
  };
  const remove = async (close: () => void): Promise<void> => {
    // The pressed button is removed together with the view.
    close();
    onFilter({ view: '' });
    await deleteView(filter.view);
    showToast(`View “${filter.view}” deleted.`);
  };
  return (
    <Menu name="Views" label="Views: save or delete">
      {(close) => (
        <>
          <label>
            View name
            <input
              maxLength={64}
              autoComplete="off"
              autoCapitalize="none"
              spellcheck={false}
              placeholder={filter.view || 'waiting-for-me'}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && name !== '') save();
              }}
            />
          </label>
          <small class="quiet" role="status">
            {name === '' && text.trim() !== '' && 'Use letters from a to z, or digits.'}
          </small>
          <button
            type="button"
            class="main"
            aria-busy={isBusy}
            aria-disabled={name === ''}
            onClick={() => name && save()}
          >
            {isTaken ? `Replace “${name}”` : 'Save view'}
          </button>
          <CopyButton value={toFilterUrl(filter)} name="Copy link to this list" />
          {filter.view !== '' && name !== filter.view && !isTaken && (
            <ConfirmButton question="Rename view and delete its feeds?" onAct={rename}>
              Rename “{filter.view}” to “{name}”
            </ConfirmButton>
          )}
          {filter.view !== '' && (
            <ConfirmButton class="danger" question="Delete view?" onAct={() => remove(close)}>
              Delete “{filter.view}”
            </ConfirmButton>
          )}
        </>
      )}
    </Menu>
  );
}

/** Clears the conditions that the saved view now contains. */
const openedAs = ({ sort, group, drafts, snoozed }: Filter): Partial<Filter> => ({
  ...{ section: '', pill: 'all', repo: '', author: '', label: '', ci: '', created: '', updated: '', text: '' },
  ...{ sort, group, drafts, snoozed },
});

/** The saved views; undefined until they are loaded. */
export const savedViews = signal<readonly SavedView[] | undefined>(preloadedBoard?.views);

export async function loadViews(): Promise<void> {
  const found = consumePreloaded('views') ?? (await dashboardClient.GET('/api/views').catch(() => undefined))?.data;
  if (found !== undefined) savedViews.value = found;
}

/** Reads the views again, as another tab may have changed them. */
async function readNewestViews(): Promise<readonly SavedView[]> {
  const views = requireData(await dashboardClient.GET('/api/views'));
  savedViews.value = views;
  return views;
}

/** @param mayReplace Whether the user has seen that a view with this name is replaced. */
async function saveView(name: string, filter: Filter, mayReplace: boolean): Promise<void> {
  const views = await readNewestViews();
  const isTaken = views.some((view) => view.name === name);
  if (isTaken && !mayReplace) throw new Error(`A view named “${name}” exists already.`);
  const open = views.find((view) => view.name === filter.view);
  const body = toView(filter, open);
  requireData(await dashboardClient.PUT('/api/views/{name}', { params: { path: { name } }, body }));
  await loadViews();
}

/**
 * Renames a view by saving a copy and deleting the original, as the API has no operation for it. After an attempt that was
 * interrupted, there is an equal copy already.
 */
async function renameView(before: string, name: string): Promise<void> {
  const views = await readNewestViews();
  const find = (wanted: string): SavedView | undefined => views.find((one) => one.name === wanted);
  const view = find(before);
  if (view === undefined) throw new Error(`No saved view named “${before}”.`);
  const taken = find(name);
  if (taken !== undefined && !isEqualView(taken, view)) throw new Error(`A view named “${name}” exists already.`);
  const { filter, sort, group } = structuredClone(view) as Writable<SavedView>;
  const body = { filter, sort, group };
  requireData(await dashboardClient.PUT('/api/views/{name}', { params: { path: { name } }, body }));
  await deleteView(before);
}

const isEqualView = (a: SavedView, b: SavedView): boolean =>
  JSON.stringify({ ...a, name: '' }) === JSON.stringify({ ...b, name: '' });

async function deleteView(name: string): Promise<void> {
  requireData(await dashboardClient.DELETE('/api/views/{name}', { params: { path: { name } } }));
  await loadViews();
}
