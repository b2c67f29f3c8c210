import { actOnce, done, queued } from '../acting.js';
import type { Outcome, Steps } from '../acting.js';
import type { ActionName } from '../facts.js';
import { ForgeError, orGone } from '../forge-error.js';
import type { RefusalCode } from '../forge-error.js';
import type { Target } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';
import type { Judged } from '../rules/allowed-actions.js';
import { findFailedRuns } from './checks.js';
import { judgeCombinedStatus } from './ci.js';
import type { CombinedStatusNode, PullRequestNode, RepositoryNode } from './nodes.js';
import { toPullRequestFacts } from './to-facts.js';

export interface ActOptions {
  readonly rest: Rest;
  /** The label by which Renovate is asked. */
  readonly rebaseLabel: string;
}

interface Doing extends ActOptions {
  readonly target: Target;
  readonly path: string;
  readonly pullRequest: PullRequestNode;
}

/**
 * Merging when checks succeed is not left to the server, though it could: whoever wished for it is asked again as it is
 * done, and shown what became of it.
 */
const STEPS: Steps<Doing> = {
  merge: (doing) => done(merge(doing)),
  close: ({ rest, path, target }) => done(rest.send('PATCH', `${path}/pulls/${target.number}`, { state: 'closed' })),
  update_branch: ({ rest, path, target }) =>
    done(rest.send('POST', `${path}/pulls/${target.number}/update?style=merge`)),
  renovate_rebase: (doing) => done(addRebaseLabel(doing)),
  rerun_checks: (doing) => queued(rerunChecks(doing)),
};

export const FORGEJO_ACTIONS = Object.keys(STEPS) as readonly ActionName[];

/** @see Forge.act */
export async function actOnForgejo(options: ActOptions, target: Target, action: ActionName): Promise<Outcome> {
  const path = pathOf(target.fullName);
  const read = async (): Promise<Doing> => {
    const pullRequest = (await options.rest.get(`${path}/pulls/${target.number}`)) as PullRequestNode;
    return { ...options, target, path, pullRequest };
  };
  return actOnce({ steps: STEPS, read, findClosed, judge }, action);
}

function findClosed({ pullRequest: { merged, state } }: Doing): RefusalCode | undefined {
  if (merged) return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

async function judge({ rest, path, target, pullRequest }: Doing): Promise<Judged> {
  const status = (await rest.get(`${path}/commits/${pullRequest.head.sha}/status`)) as CombinedStatusNode;
  const known = { repo: target.fullName, ci: judgeCombinedStatus(status.state), review: undefined };
  return { ...toPullRequestFacts(pullRequest, known), forge: 'forgejo', stackedOn: null, bot: undefined };
}

/** Merge before squash before rebase, of those that the repository allows. */
async function merge({ rest, path, target, pullRequest }: Doing): Promise<void> {
  const repository = (await rest.get(path)) as RepositoryNode;
  const { allow_merge_commits = true, allow_squash_merge = true, allow_rebase = true } = repository;
  const other = allow_squash_merge ? 'squash' : 'rebase';
  const style = allow_merge_commits || !(allow_squash_merge || allow_rebase) ? 'merge' : other;
  const head_commit_id = target.headSha ?? pullRequest.head.sha;
  await rest.send('POST', `${path}/pulls/${target.number}/merge`, { Do: style, head_commit_id });
}

async function addRebaseLabel({ rest, path, target, rebaseLabel }: Doing): Promise<void> {
  const labels = await rest.list<{ id: number; name: string }>(`${path}/labels?limit=50`, 1_000);
  const label = labels.find(({ name }) => name === rebaseLabel);
  if (label === undefined) throw new ForgeError('not_found', { refusal: 'label_missing' });
  await rest.send('POST', `${path}/issues/${target.number}/labels`, { labels: [label.id] });
}

/** The API of newer releases of Gitea runs again what failed; that of Forgejo, of 16 too, lists runs and starts none. */
const RERUN_NEEDS =
  'a server that runs checks again by its API, as newer ones of Gitea do; at the forge itself it can be done';

async function rerunChecks({ rest, path, pullRequest }: Doing): Promise<void> {
  const runs = (await findFailedRuns(rest, { path, sha: pullRequest.head.sha }).catch(orGone)) ?? [];
  if (runs.length === 0) throw new ForgeError('conflict', { refusal: 'unknown' });
  for (const run of runs) {
    await rest.send('POST', `${path}/actions/runs/${run}/rerun-failed-jobs`).catch(refuseMissing);
  }
}

/** The run is there, so that it is the operation that is not. */
function refuseMissing(error: unknown): never {
  if (!(error instanceof ForgeError) || error.status !== 404) throw error;
  throw new ForgeError('conflict', { status: 404, cause: error.cause, refusal: 'unknown', needs: RERUN_NEEDS });
}
