import { parseFilter } from './filter-store.js';
import { NO_FILTER } from './filter.js';
import type { Filter } from './filter.js';

/** Where the same rows are listed the same way, of whoever opens it. */
export function addressOf(value: Filter): string {
  const chosen = Object.entries(value).filter(([name, one]) => one !== NO_FILTER[name as keyof Filter]);
  const query = new URLSearchParams(chosen.map(([name, one]) => [name, String(one)]));
  return `${location.origin}/?${query.toString()}`;
}

/** What the address asks for, once: from then on the list is what is chosen. */
export function takeAddress(): Filter | undefined {
  const asked = Object.fromEntries(new URLSearchParams(location.search));
  if (!Object.keys(asked).some((name) => Object.hasOwn(NO_FILTER, name))) return undefined;
  history.replaceState(history.state, '', location.pathname);
  return parseFilter({ ...asked, drafts: asked.drafts === 'true', snoozed: asked.snoozed === 'true' });
}
