import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../../api.js';
import { consumePreloaded, preloadedBoard } from '../../page-data.js';
import { ConfirmButton, CopyButton, useAction } from '../../ui/buttons.js';
import { Menu } from '../../ui/menu.js';
import { showToast } from '../../ui/toasts.js';
import { type PullRequest, type Section, SECTION_NAMES, type Writable } from '../data/rows.js';
import { toFilterUrl } from './filter-store.js';
import { createMatcher, type Filter } from './filter.js';
import { openView, type SavedView, toView, toViewName } from './views.js';

/** The numbers of rows in the tabs. */
export interface TabCounts {
  readonly sections: Readonly<Partial<Record<Section, number>>>;
  /**
   * The numbers of the views by name, without those of views with drafts that are not loaded; undefined while only the first
   * rows of the board are there.
   */
  readonly views: ReadonlyMap<string, number> | undefined;
}

interface BoardTabsProps {
  readonly filter: Filter;
  readonly counts: TabCounts;
  readonly onFilter: (change: Partial<Filter>) => void;
}

/** A line with all rows, each section and each saved view, of which one is shown. */
export function BoardTabs({ filter, counts: { sections, views }, onFilter }: BoardTabsProps) {
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => showPressed(line.current), [filter.section, filter.view]);
  const all = Object.values(sections).reduce((sum, count) => sum + count, 0);
  const known = Object.entries(SECTION_NAMES) as [Section, string][];
  // Drafts are hidden unless the user asks for them.
  const shown = known.filter(([name]) => name !== 'drafts' || (sections.drafts ?? 0) > 0 || filter.section === name);
  return (
    <div ref={line} class="tabs" role="group" aria-label="Sections and views">
      <Tab
        name="All"
        count={all}
        isShown={filter.section === '' && filter.view === ''}
        onShow={() => onFilter({ section: '', view: '' })}
      />
      {shown.map(([section, name]) => (
        <Tab
          key={section}
          name={name}
          count={sections[section] ?? 0}
          isShown={filter.section === section}
          onShow={() => onFilter({ section, view: '' })}
        />
      ))}
      {savedViews.value?.map((view) => (
        <Tab
          key={`view ${view.name}`}
          isView
          name={view.name}
          count={views?.get(view.name)}
          isShown={filter.view === view.name}
          onShow={() => onFilter(openView(view, filter))}
        />
      ))}
    </div>
  );
}

interface TabProps {
  readonly name: string;
  readonly count: number | undefined;
  readonly isView?: boolean;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function Tab({ name, count, isView = false, isShown, onShow }: TabProps) {
  return (
    <button type="button" aria-pressed={isShown} onClick={onShow}>
      {isView && <span aria-hidden="true">★ </span>}
      {name} <span class="quiet">{count?.toLocaleString()}</span>
    </button>
  );
}

/** Counts the listed rows of each section. A section is added to the conditions of the filter. */
export function countSections(listed: readonly PullRequest[], filter: Filter): TabCounts['sections'] {
  const matches = createMatcher({ ...filter, section: '' });
  const sections: Partial<Record<Section, number>> = {};
  for (const row of listed) if (matches(row)) sections[row.section] = (sections[row.section] ?? 0) + 1;
  return sections;
}

/** Scrolls the line, and not the page, to the pressed tab. */
function showPressed(line: HTMLElement | null): void {
  const pressed = line?.querySelector<HTMLElement>('[aria-pressed="true"]');
  if (!line || !pressed) return;
  const [area, tab] = [line.getBoundingClientRect(), pressed.getBoundingClientRect()];
  if (tab.left < area.left) line.scrollLeft -= area.left - tab.left;
  else if (tab.right > area.right) line.scrollLeft += tab.right - area.right;
}

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
                if (event.key === 'Enter' && !event.isComposing && name !== '') save();
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
