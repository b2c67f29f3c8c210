import type { Database } from '../../storage/database.js';
import type { PullRequest } from '../forges/facts.js';
import type { OnRefreshed, Refresher } from '../refresh/refresher.js';
import type { Attempts } from './attempts.js';
import type { Followed } from './follow.js';
import { followAutoMerge } from './follow-auto-merge.js';
import { followAutoUpdate } from './follow-auto-update.js';
import { followBotRequest, followUpdateRequest } from './follow-requests.js';
import { listAutoUpdated, listKept } from './kept-marks.js';
import type { Kept } from './kept-marks.js';
import { pullRequestKey, repositoryKey } from './marks.js';
import { readMissedRows } from './missed-rows.js';

export interface FollowUpsOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'recompose'>;
  readonly attempts: Attempts;
  readonly now?: (() => number) | undefined;
}

/** Branches that are updated after one refresh; the others have time until the next. */
const MAX_UPDATES = 10;

/**
 * Goes on with what was wished for: merges, keeps branches up to date, and sees what became of what was asked for. One
 * after the other, for nothing of it is urgent and forges dislike writes that come all at once.
 */
export function createFollowUps({ database, refresher, attempts, now = Date.now }: FollowUpsOptions): OnRefreshed {
  return async (personId, forges, rows) => {
    const kept = await listKept(database, personId, now());
    const updated = await listAutoUpdated(database, personId);
    if (kept.size + updated.size === 0) return;
    const toFollowed = (row: PullRequest): Followed[] => {
      const forge = forges.get(row.forge);
      const address = { personId, forge: row.forge, fullName: row.repo, number: row.number };
      return forge === undefined ? [] : [{ database, attempts, now, forge, address, row }];
    };
    let [changes, updates] = [0, 0];
    for (const followed of rows.flatMap(toFollowed)) {
      const own = kept.get(keyOf(followed.row)) ?? {};
      changes += await followKept(followed, own);
      const isUpdated = updates < MAX_UPDATES && updated.has(repositoryKey(followed.row.forge, followed.row.repo));
      if (isUpdated && (await followAutoUpdate(followed, own.auto_update))) updates += 1;
    }
    for (const row of rows) kept.delete(keyOf(row));
    for (const row of await readMissedRows(database, { personId, forges, kept, at: now() })) {
      for (const followed of toFollowed(row)) changes += await followKept(followed, kept.get(keyOf(row)) ?? {});
    }
    if (changes + updates > 0) await refresher.recompose(personId);
  };
}

const keyOf = ({ forge, repo, number }: PullRequest): string => pullRequestKey(forge, repo, number);

/** @returns How much of it changed. */
async function followKept(followed: Followed, { auto_merge, bot_request, update_request }: Kept): Promise<number> {
  const changes = [
    auto_merge !== undefined && (await followAutoMerge(followed, auto_merge)),
    bot_request !== undefined && (await followBotRequest(followed, bot_request)),
    update_request !== undefined && (await followUpdateRequest(followed, update_request)),
  ];
  return changes.filter(Boolean).length;
}
