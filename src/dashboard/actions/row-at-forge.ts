import type { PullRequest } from '../forges/facts.js';
import type { Forge } from '../forges/forge.js';
import { ForgeError } from '../forges/forge-error.js';
import { toRows } from '../forges/rules/to-rows.js';
import type { PullRequestAddress } from './keep-marks.js';

/** Makes the row of an open pull request that is not on the board. @throws ForgeError `not_found` when there is none. */
export async function readRowAtForge(forge: Forge, { fullName, number }: PullRequestAddress): Promise<PullRequest> {
  const reading = await forge.readRepository(fullName);
  const rows = reading && toRows(reading, { forge: forge.name, username: '', renovateAuthors: [] });
  const row = rows?.pullRequests.find((one) => one.number === number);
  if (row === undefined) throw new ForgeError('not_found');
  return row;
}
