import type { ActionName } from '../facts.js';
import { ForgeError, orGone } from '../forge-error.js';
import type { RefusalCode } from '../forge-error.js';
import type { Forge, Target } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';
import { explainRefusal } from '../rules/refusals.js';
import { findFailedRuns } from './checks.js';
import { judgeCombinedStatus } from './ci.js';
import type { CombinedStatusNode, PullRequestNode, RepositoryNode } from './nodes.js';
import { toPullRequestFacts } from './to-facts.js';

type Outcome = Awaited<ReturnType<Forge['act']>>;

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
const STEPS: Readonly<Partial<Record<ActionName, (doing: Doing) => Promise<unknown>>>> = {
  merge,
  close: ({ rest, path, target }) => rest.send('PATCH', `${path}/pulls/${target.number}`, { state: 'closed' }),
  update_branch: ({ rest, path, target }) => rest.send('POST', `${path}/pulls/${target.number}/update?style=merge`),
  renovate_rebase: addRebaseLabel,
  rerun_checks: rerunChecks,
};

export const FORGEJO_ACTIONS = Object.keys(STEPS) as readonly ActionName[];

/** @see Forge.act */
export async function actOnForgejo(
  { rest, rebaseLabel }: ActOptions,
  target: Target,
  action: ActionName,
): Promise<Outcome> {
  const step = STEPS[action];
  if (step === undefined) throw new ForgeError('unknown', { refusal: 'unknown' });
  const path = pathOf(target.fullName);
  const pullRequest = await readTarget(rest, target);
  const closed = closedCode(pullRequest);
  if (closed !== undefined) throw new ForgeError('conflict', { refusal: closed });
  try {
    await step({ rest, rebaseLabel, target, path, pullRequest });
    return action === 'rerun_checks' ? 'queued' : 'done';
  } catch (error) {
    if (!(error instanceof ForgeError) || error.refusal !== undefined) throw error;
    const { kind, status, resetsAt, cause } = error;
    throw new ForgeError(kind, { status, resetsAt, cause, refusal: await findRefusal(rest, { target, action, kind }) });
  }
}

async function readTarget(rest: Rest, { fullName, number }: Target): Promise<PullRequestNode> {
  return (await rest.get(`${pathOf(fullName)}/pulls/${number}`)) as PullRequestNode;
}

function closedCode({ merged, state }: PullRequestNode): RefusalCode | undefined {
  if (merged) return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

interface Refused {
  readonly target: Target;
  readonly action: ActionName;
  readonly kind: ForgeError['kind'];
}

/** The reason is read off the pull request as it is now, not off the forge's words. */
async function findRefusal(rest: Rest, { target, action, kind }: Refused): Promise<RefusalCode> {
  if (kind === 'rate_limited') return 'rate_limited';
  if (kind === 'unauthorized') return 'permission';
  if (kind !== 'conflict') return 'unknown';
  try {
    const { fullName: repo } = target;
    const node = await readTarget(rest, target);
    const status = (await rest.get(`${pathOf(repo)}/commits/${node.head.sha}/status`)) as CombinedStatusNode;
    const facts = toPullRequestFacts(node, { repo, ci: judgeCombinedStatus(status.state), review: undefined });
    const judged = { ...facts, forge: 'forgejo', stackedOn: null, bot: undefined } as const;
    return closedCode(node) ?? explainRefusal(action, judged);
  } catch {
    return 'unknown';
  }
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
