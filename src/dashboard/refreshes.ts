import type { Caller } from '../accounts/callers.js';
import { requireUser } from '../accounts/scopes.js';
import { rateLimitError } from '../core/errors.js';
import type { AppError } from '../core/errors.js';
import { singleFlight } from '../core/concurrency.js';
import type { Database } from '../storage/database.js';
import type { Board } from './boards/board.js';
import type { BoardOptions } from './boards/boards.js';
import type { Boards } from './boards/boards.js';
import { assertSettingsSaved } from './settings/settings-row.js';

/** Forges allow a few thousand requests per hour, and one refresh of a large board takes dozens. */
const COOLDOWN_MS = 30_000;

export interface Refreshes {
  /**
   * Refreshes the caller's board, and returns it afterwards. Concurrent calls in this process share one refresh.
   *
   * @throws AppError `not_found` until the caller has saved forge settings, `rate_limited` within 30 seconds of the
   * last refresh in any process.
   */
  run(caller: Caller | undefined, options: Pick<BoardOptions, 'includeDrafts' | 'includeSnoozed'>): Promise<Board>;
}

export interface RefreshesOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Reads the user's forges and saves the board. */
  readonly refresh: (personId: string) => Promise<void>;
  readonly now?: () => number;
}

export function createRefreshes({ database, boards, refresh, now = Date.now }: RefreshesOptions): Refreshes {
  const once = singleFlight<undefined>();
  return {
    async run(caller, options) {
      const { personId } = requireUser(caller);
      await once(personId, async () => {
        await assertSettingsSaved(database, personId);
        await claimRefresh(database, personId, now());
        await refresh(personId);
        return undefined;
      });
      return boards.read(caller, options);
    },
  };
}

/** Claims the cooldown in one statement, so that only one of several processes succeeds. */
async function claimRefresh(database: Database, personId: string, at: number): Promise<void> {
  const { numUpdatedRows } = await database
    .updateTable('settings')
    .set({ refreshed_at: at })
    .where('person_id', '=', personId)
    .where((or) => or.or([or('refreshed_at', 'is', null), or('refreshed_at', '<=', at - COOLDOWN_MS)]))
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const settings = database.selectFrom('settings').select('refreshed_at').where('person_id', '=', personId);
  const { refreshed_at } = await settings.executeTakeFirstOrThrow();
  throw cooldownError((refreshed_at ?? at) + COOLDOWN_MS - at);
}

function cooldownError(milliseconds: number): AppError {
  // The bounds also cover clocks that were set back.
  const windowSeconds = COOLDOWN_MS / 1000;
  const resetSeconds = Math.min(Math.max(Math.ceil(milliseconds / 1000), 1), windowSeconds);
  const message = `Boards can be refreshed every ${windowSeconds} seconds. Retry in ${resetSeconds} s.`;
  return rateLimitError(message, { limit: 1, windowSeconds, resetSeconds });
}
