import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface FoldedFiltersProps {
  /** How many of the filters are active. */
  readonly active: number;
  readonly children: ComponentChildren;
}

/** Filters that are always visible on wide screens, and on a phone behind a button with the number of active ones. */
export function FoldedFilters({ active, children }: FoldedFiltersProps) {
  const [isOpen, setOpen] = useState(false);
  // Once drawn, the filters stay mounted, so that rotating a phone loses no input.
  const isDrawn = useRef(false);
  isDrawn.current ||= isOpen || !isNarrowScreen.value;
  return (
    <>
      <button
        type="button"
        class="unfold"
        aria-expanded={isOpen}
        aria-controls="more-filters"
        onClick={() => setOpen(!isOpen)}
      >
        Filters{active > 0 && ` (${active})`}
      </button>
      <div id="more-filters" class={`selects ${isOpen ? '' : 'folded'}`}>
        {isDrawn.current && children}
      </div>
    </>
  );
}

/** The breakpoint of the style sheets: below it, the layout has one column and filters are folded. */
const narrow = matchMedia('(max-width: 48rem)');

export const isNarrowScreen = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => (isNarrowScreen.value = matches));
