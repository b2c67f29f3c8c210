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
    const [person, theme, timezone, board] = await Promise.all([
      people.read(caller),
      dashboard.preferences.readTheme(caller),
      dashboard.preferences.readTimezone(caller),
      hasBoard ? readBoardFacts(dashboard, caller) : undefined,
    ]);
    return { session: toSessionUser(person), theme, timezone, ...(board && { board }) };
  };

async function readBoardFacts(
  { preferences, views, sharing }: PageServices['dashboard'],
  caller: Caller,
): Promise<BoardFacts> {
  const [filters, saved, { sharedWithMe }] = await Promise.all([
    preferences.readFilterState(caller),
    views.list(caller),
    sharing.list(caller),
  ]);
  return { filters, views: saved, sharedWithMe };
}

/** A person as sessions and tokens show them. */
export function toSessionUser({ username, displayName, isAdmin }: Person): components['schemas']['SessionUser'] {
  return { username, displayName, isAdmin };
}
