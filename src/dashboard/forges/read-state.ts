import type { PullRequestOutcome, PullRequestTarget } from './forge.js';
import type { RestClient } from './http/rest.js';
import { toRepositoryPath } from './read-repositories.js';

/** A pull request in the REST API of GitHub, Forgejo and Gitea. */
interface PullRequestNode {
  readonly state: string;
  readonly merged?: boolean;
}

/** Reads the state of a pull request at GitHub, Forgejo or Gitea. @see Forge.readState */
export async function readPullRequestState(
  rest: Pick<RestClient, 'get'>,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestOutcome> {
  const node = (await rest.get(`${toRepositoryPath(fullName)}/pulls/${number}`)) as PullRequestNode;
  if (node.merged === true) return 'merged';
  return node.state === 'closed' ? 'closed' : 'open';
}
