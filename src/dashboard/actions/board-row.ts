import type { Database } from '../../storage/database.js';
import type { BoardSnapshot } from '../boards/board.js';
import type { PullRequest } from '../forges/forge.js';
import type { PullRequestAddress } from './state-entries.js';
import { pullRequestKey } from '../forges/forge.js';

/** Returns the row of a pull request on a user's board. */
export async function findBoardRow(database: Database, address: PullRequestAddress): Promise<PullRequest | undefined> {
  const { personId, forge, fullName, number } = address;
  const boards = database.selectFrom('boards').select('snapshot').where('person_id', '=', personId);
  const row = await boards.executeTakeFirst();
  if (row === undefined) return undefined;
  const { pullRequests } = JSON.parse(row.snapshot) as BoardSnapshot;
  const key = pullRequestKey(forge, fullName, number);
  return pullRequests.find((one) => pullRequestKey(one.forge, one.repo, one.number) === key);
}
