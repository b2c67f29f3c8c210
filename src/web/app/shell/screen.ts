import { signal } from '@preact/signals';

/** As the styles have it: below this, what stands beside each other stands below each other, and filters are folded. */
const narrow = matchMedia('(max-width: 48rem)');

export const isNarrow = signal(narrow.matches);

narrow.addEventListener('change', ({ matches }) => (isNarrow.value = matches));
