import type { Caller } from '../accounts/callers.js';
import { requirePerson } from '../accounts/scopes.js';
import { rateLimited } from '../errors.js';
import type { AppError } from '../errors.js';
import { onceAtATime } from '../in-turn.js';
import type { Database } from '../storage/database.js';
import type { Board } from './board.js';
import type { BoardLook } from './board-answers.js';
import type { Boards } from './boards.js';
import { requireSavedSettings } from './settings-row.js';

/** Forges give few thousand requests an hour, of which one refresh of a large board takes dozens. */
const COOLDOWN_MS = 30_000;

export interface Refreshes {
  /**
   * Refreshes the caller's board, and gives it when that is done. Who asks while
   * one is under way waits for that one.
   *
   * @throws AppError `not_found` while settings were never saved, `rate_limited`
   * within 30 seconds of the last time, whichever process that was in.
   */
  run(caller: Caller | undefined, look: Pick<BoardLook, 'includeDrafts' | 'includeSnoozed'>): Promise<Board>;
}

export interface RefreshesOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Reads a person's forges and saves what it found. */
  readonly refresh: (personId: string) => Promise<void>;
  readonly now?: () => number;
}

export function createRefreshes({ database, boards, refresh, now = Date.now }: RefreshesOptions): Refreshes {
  const once = onceAtATime<undefined>();
  return {
    async run(caller, look) {
      const { personId } = requirePerson(caller);
      await once(personId, async () => {
        await requireSavedSettings(database, personId);
        await claim(database, personId, now());
        await refresh(personId);
        return undefined;
      });
      return boards.read(caller, look);
    },
  };
}

/** One statement, so that of two processes only one gets through. */
async function claim(database: Database, personId: string, at: number): Promise<void> {
  const { numUpdatedRows } = await database
    .updateTable('settings')
    .set({ refreshed_at: at })
    .where('person_id', '=', personId)
    .where((or) => or.or([or('refreshed_at', 'is', null), or('refreshed_at', '<=', at - COOLDOWN_MS)]))
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const settings = database.selectFrom('settings').select('refreshed_at').where('person_id', '=', personId);
  const { refreshed_at } = await settings.executeTakeFirstOrThrow();
  throw refuse((refreshed_at ?? at) + COOLDOWN_MS - at);
}

function refuse(milliseconds: number): AppError {
  // Within the second, and for clocks that were set back.
  const windowSeconds = COOLDOWN_MS / 1000;
  const resetSeconds = Math.min(Math.max(Math.ceil(milliseconds / 1000), 1), windowSeconds);
  const message = `Expected ${windowSeconds} seconds between refreshes; ask again in ${resetSeconds} s.`;
  return rateLimited(message, { limit: 1, windowSeconds, resetSeconds });
}
