import type { PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { toRows } from '../forges/rules/to-rows.js';
import type { PullRequestAddress } from './keep-marks.js';

/**
 * Reads an open pull request that the board does not list from its forge.
 *
 * @throws ForgeError `not_found` if the repository has no such open pull request.
 */
export async function readRowAtForge(forge: Forge, { fullName, number }: PullRequestAddress): Promise<PullRequest> {
  const reading = await forge.readRepository(fullName);
  const rows = reading && toRows(reading, { forge: forge.name, username: '', renovateAuthors: [] });
  const row = rows?.pullRequests.find((one) => one.number === number);
  if (row === undefined) throw new ForgeError('not_found');
  return row;
}
