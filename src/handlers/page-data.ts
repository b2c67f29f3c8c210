import type { Caller } from '../accounts/callers.js';
import type { User } from '../accounts/users.js';
import type { components } from '../generated/dashboard/types.js';
import type { BoardPageData, PageData } from '../web/page-data.js';
import type { DashboardServices } from './dashboard/services.js';

type PageServices = Pick<DashboardServices, 'accounts' | 'dashboard'>;

const SIGNED_OUT: PageData = { session: null, theme: '', timezone: '' };

/** The page that lists pull requests. */
const LIST_PATH = '/';

/**
 * Creates a function that reads the data embedded in the page at a path for its caller.
 *
 * @param boardPaths The pages that show data of a board.
 */
export const readPageData =
  ({ accounts: { users }, dashboard }: PageServices, boardPaths: readonly string[]) =>
  async (caller: Caller | undefined, path: string): Promise<PageData> => {
    if (caller === undefined) return SIGNED_OUT;
    const [person, { theme, timezone, filterState }, board] = await Promise.all([
      users.read(caller),
      dashboard.preferences.readAll(caller),
      boardPaths.includes(path) ? readBoard(dashboard, caller) : undefined,
    ]);
    const isList = board !== undefined && path === LIST_PATH;
    const firstRows = isList ? await dashboard.boards.readFirstRows(caller, filterState.pullRequests) : undefined;
    return {
      session: toSessionUser(person),
      theme,
      timezone,
      ...(board && { board: { ...board, filters: filterState, ...(firstRows && { firstRows }) } }),
    };
  };

/** Creates a function that returns which pages its caller can open. */
export const readAudience =
  ({ accounts: { users } }: Pick<PageServices, 'accounts'>) =>
  async (caller: Caller | undefined): Promise<'admin' | 'public' | 'user'> => {
    if (caller === undefined) return 'public';
    const { isAdmin } = await users.read(caller);
    return isAdmin ? 'admin' : 'user';
  };

async function readBoard(
  { views, sharing }: PageServices['dashboard'],
  caller: Caller,
): Promise<Pick<BoardPageData, 'sharedWithMe' | 'views'>> {
  const [saved, { sharedWithMe }] = await Promise.all([views.list(caller), sharing.list(caller)]);
  return { views: saved, sharedWithMe };
}

export function toSessionUser({ username, displayName, isAdmin }: User): components['schemas']['SessionUser'] {
  return { username, displayName, isAdmin };
}
