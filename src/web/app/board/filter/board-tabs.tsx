import { useLayoutEffect, useRef } from 'preact/hooks';
import { type PullRequest, type Section, SECTION_NAMES } from '../data/rows.js';
import { createMatcher, type Filter } from './filter.js';
import { savedViews } from './saved-views.js';
import { createViewMatcher, openView, type SavedView } from './views.js';

/** The numbers of rows in the tabs. */
export interface TabCounts {
  readonly sections: Readonly<Partial<Record<Section, number>>>;
  /** The numbers of the views by name; undefined while only the first rows of the board are there. */
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

/** Counts the rows of each tab. A view replaces the conditions of the filter, and a section is added to them. */
export function countTabs(rows: readonly PullRequest[], filter: Filter, views: readonly SavedView[]): TabCounts {
  const matches = createMatcher({ ...filter, section: '' });
  const sections: Partial<Record<Section, number>> = {};
  for (const row of rows) if (matches(row)) sections[row.section] = (sections[row.section] ?? 0) + 1;
  const count = ({ filter: view }: SavedView): number => rows.filter(createViewMatcher(view)).length;
  return { sections, views: new Map(views.map((view) => [view.name, count(view)])) };
}

/** Scrolls the line, and not the page, to the pressed tab. */
function showPressed(line: HTMLElement | null): void {
  const pressed = line?.querySelector<HTMLElement>('[aria-pressed="true"]');
  if (!line || !pressed) return;
  const [area, tab] = [line.getBoundingClientRect(), pressed.getBoundingClientRect()];
  if (tab.left < area.left) line.scrollLeft -= area.left - tab.left;
  else if (tab.right > area.right) line.scrollLeft += tab.right - area.right;
}
