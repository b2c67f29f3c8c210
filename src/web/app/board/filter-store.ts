import { effect, signal } from '@preact/signals';
import { dashboard } from '../clients.js';
import { NO_FILTER, PILLS } from './filter.js';
import type { Filter } from './filter.js';

const KEPT_AS = 'trellis-filter';

/** So that typing is not sent letter by letter. */
const SAVE_AFTER_MS = 500;

/** As it was left, at once from this browser; other devices get it from the server. */
export const filter = signal<Filter>(parseFilter(localStorage.getItem(KEPT_AS) ?? ''));

/** Takes the state of other devices over, once, and keeps both places up to date from then on. */
export async function keepFilter(): Promise<void> {
  const { data } = await dashboard.GET('/api/settings/filter-state');
  const saved = JSON.stringify(data?.pullRequests ?? {});
  if (saved !== '{}' && localStorage.getItem(KEPT_AS) === null) filter.value = parseFilter(saved);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = JSON.stringify(filter.value);
  effect(() => {
    const text = JSON.stringify(filter.value);
    if (text === last) return;
    last = text;
    localStorage.setItem(KEPT_AS, text);
    clearTimeout(timer);
    timer = setTimeout(() => {
      void dashboard.PUT('/api/settings/filter-state', { body: { pullRequests: { ...filter.value } } });
    }, SAVE_AFTER_MS);
  });
}

/** What another release kept may lack a member, or have one that means nothing any more. */
function parseFilter(text: string): Filter {
  try {
    const kept = JSON.parse(text) as Partial<Record<keyof Filter, unknown>>;
    const known = Object.entries(NO_FILTER).map(([name, none]) => {
      const value = kept[name as keyof Filter];
      return [name, typeof value === typeof none ? value : none] as const;
    });
    const read = Object.fromEntries(known) as unknown as Filter;
    return read.pill in PILLS ? read : { ...read, pill: 'all' };
  } catch {
    return NO_FILTER;
  }
}
