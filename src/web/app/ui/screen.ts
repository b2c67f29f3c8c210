import { signal } from '@preact/signals';

/** The breakpoint of the style sheets: below it, the layout has one column and filters are folded. */
const narrow = matchMedia('(max-width: 48rem)');

export const isNarrowScreen = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => (isNarrowScreen.value = matches));
