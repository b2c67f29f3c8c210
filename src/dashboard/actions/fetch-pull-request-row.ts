import type { PullRequest } from '../forges/forge.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { toBoardRows } from '../forges/rules/board-rows.js';
import type { PullRequestAddress } from './state-entries.js';

/**
 * Reads an open pull request that the board does not list from its forge.
 *
 * @throws ForgeError `not_found` if the repository has no such open pull request.
 */
export async function fetchPullRequestRow(
  forge: Forge,
  { fullName, number }: PullRequestAddress,
): Promise<PullRequest> {
  const reading = await forge.readRepository(fullName);
  const rows = reading && toBoardRows(reading, { forge: forge.name, username: '', renovateAuthors: [] });
  const row = rows?.pullRequests.find((one) => one.number === number);
  if (row === undefined) throw new ForgeError('not_found');
  return row;
}
