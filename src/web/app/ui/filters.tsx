import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { sharedStorage } from './browser-storage.js';

interface FoldedFiltersProps {
  /** How many of the filters are active. */
  readonly active: number;
  readonly children: ComponentChildren;
}

/** Filters behind a button with the number of active ones. A wide screen remembers whether they are open. */
export function FoldedFilters({ active, children }: FoldedFiltersProps) {
  const [isOpen, setOpen] = useState(() => !isNarrowScreen.peek() && sharedStorage.getItem(STORAGE_KEY) === 'true');
  // Once drawn, the filters stay mounted, so that rotating a phone loses no input.
  const isDrawn = useRef(false);
  isDrawn.current ||= isOpen;
  const toggle = (): void => {
    setOpen(!isOpen);
    if (!isNarrowScreen.peek()) sharedStorage.setItem(STORAGE_KEY, String(!isOpen));
  };
  return (
    <>
      <button type="button" class="unfold" aria-expanded={isOpen} aria-controls="more-filters" onClick={toggle}>
        Filters{active > 0 && ` (${active})`}
      </button>
      <div id="more-filters" class={`selects ${isOpen ? '' : 'folded'}`}>
        {isDrawn.current && children}
      </div>
    </>
  );
}

const STORAGE_KEY = 'trellis-filters-open';

/** The breakpoint of the style sheets: below it, the layout has one column and filters are folded. */
const narrow = matchMedia('(max-width: 48rem)');

export const isNarrowScreen = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => (isNarrowScreen.value = matches));

export interface ActiveFilter {
  /** The name of the filter, such as "Author". */
  readonly name: string;
  readonly value: string;
  readonly onRemove: () => void;
}

interface ActiveFiltersProps {
  readonly filters: readonly ActiveFilter[];
  readonly onClear: () => unknown;
}

/** The filters in force as buttons that remove them, so that they are visible while the controls are folded. */
export function ActiveFilters({ filters, onClear }: ActiveFiltersProps) {
  const list = useRef<HTMLDivElement>(null);
  /** The pressed button disappears with its filter. */
  const act = (change: () => unknown): void => {
    list.current?.focus();
    change();
  };
  return (
    <div ref={list} class="active-filters" role="group" tabIndex={-1} aria-label="Active filters">
      {filters.map(({ name, value, onRemove }) => (
        <button
          key={name}
          type="button"
          class="active-filter"
          aria-label={`Remove filter ${name}: ${value}`}
          onClick={() => act(onRemove)}
        >
          <span class="quiet">{name}:</span> <bdi>{value}</bdi> <span aria-hidden="true">×</span>
        </button>
      ))}
      {filters.length > 0 && (
        <button type="button" class="plain" onClick={() => act(onClear)}>
          Clear all
        </button>
      )}
    </div>
  );
}
