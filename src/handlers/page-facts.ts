import type { Caller } from '../accounts/callers.js';
import type { Person } from '../accounts/people.js';
import type { components } from '../generated/dashboard/types.js';
import type { BoardFacts, PageFacts } from '../web/page-facts.js';
import type { DashboardServices } from './dashboard/handlers.js';

type PageServices = Pick<DashboardServices, 'accounts' | 'dashboard'>;

const NOBODY: PageFacts = { session: null, theme: '', timezone: '' };

/** Reads what a page tells whoever opens it. */
export const readPageFacts =
  ({ accounts: { people }, dashboard }: PageServices) =>
  async (caller: Caller | undefined, { hasBoard }: { readonly hasBoard: boolean }): Promise<PageFacts> => {
    if (caller === undefined) return NOBODY;
    const [person, { theme, timezone, filterState }, board] = await Promise.all([
      people.read(caller),
      dashboard.preferences.readAll(caller),
      hasBoard ? readBoard(dashboard, caller) : undefined,
    ]);
    return {
      session: toSessionUser(person),
      theme,
      timezone,
      ...(board && { board: { ...board, filters: filterState } }),
    };
  };

/** What a board begins with besides filters. */
async function readBoard(
  { views, sharing }: PageServices['dashboard'],
  caller: Caller,
): Promise<Omit<BoardFacts, 'filters'>> {
  const [saved, { sharedWithMe }] = await Promise.all([views.list(caller), sharing.list(caller)]);
  return { views: saved, sharedWithMe };
}

/** A person as sessions and tokens show them. */
export function toSessionUser({ username, displayName, isAdmin }: Person): components['schemas']['SessionUser'] {
  return { username, displayName, isAdmin };
}
