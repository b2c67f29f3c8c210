import { useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { isNarrow } from './screen.js';

interface FoldedFiltersProps {
  /** How many of them leave something out. */
  readonly active: number;
  readonly children: ComponentChildren;
}

/** Filters that stand open where there is room, and on a phone behind a button that says how many are at work. */
export function FoldedFilters({ active, children }: FoldedFiltersProps) {
  const [isOpen, setOpen] = useState(false);
  // What was shown once stays, with whatever was begun in it, when a phone is turned.
  const isDrawn = useRef(false);
  isDrawn.current ||= isOpen || !isNarrow.value;
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
