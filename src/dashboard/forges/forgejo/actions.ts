import {
  type ActionRequests,
  applyNameChanges,
  doneResult,
  type ForgeActionResult,
  queuedResult,
  requireInput,
  sendForgeAction,
  toReviewerRequests,
} from '../forge-action.js';
import { type ActionErrorCode, ForgeError, undefinedIfNotFound } from '../forge-error.js';
import type { ActionName, PullRequestTarget } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../read-repositories.js';
import type { ActionCandidate } from '../rules/allowed-actions.js';
import { ciFromCombinedStatus, findFailedRuns } from './checks.js';
import { type CombinedStatusNode, type PullRequestNode, type RepositoryNode, toForgePullRequest } from './parse.js';

export interface ForgejoActionOptions {
  readonly rest: RestClient;
  /** The label that makes Renovate rebase. */
  readonly rebaseLabel: string;
}

interface ActionContext extends ForgejoActionOptions {
  readonly target: PullRequestTarget;
  readonly path: string;
  readonly pullRequest: PullRequestNode;
}

/**
 * Omits auto-merge, although Forgejo supports it: Trellis merges itself, so that it can check the request again before
 * the merge and report the outcome.
 */
const REQUESTS: ActionRequests<ActionContext> = {
  merge: (context) => doneResult(merge(context)),
  close: ({ rest, path, target }) =>
    doneResult(rest.send('PATCH', `${path}/pulls/${target.number}`, { state: 'closed' })),
  update_branch: ({ rest, path, target }) =>
    doneResult(rest.send('POST', `${path}/pulls/${target.number}/update?style=merge`)),
  renovate_rebase: (context) => doneResult(addRebaseLabel(context)),
  rerun_checks: (context) => queuedResult(rerunChecks(context)),
  review: (context) => doneResult(review(context)),
  edit: (context) => doneResult(edit(context)),
};

export const FORGEJO_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

/** @see Forge.act */
export async function actOnForgejo(
  options: ForgejoActionOptions,
  target: PullRequestTarget,
  action: ActionName,
): Promise<ForgeActionResult> {
  const path = toRepositoryPath(target.fullName);
  const read = async (): Promise<ActionContext> => {
    const pullRequest = (await options.rest.get(`${path}/pulls/${target.number}`)) as PullRequestNode;
    return { ...options, target, path, pullRequest };
  };
  return sendForgeAction({ requests: REQUESTS, read, findClosed, judge }, action);
}

function findClosed({ pullRequest: { merged, state } }: ActionContext): ActionErrorCode | undefined {
  if (merged) return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

async function judge({ rest, path, target, pullRequest }: ActionContext): Promise<ActionCandidate> {
  const status = (await rest.get(`${path}/commits/${pullRequest.head.sha}/status`)) as CombinedStatusNode;
  const known = { repo: target.fullName, ci: ciFromCombinedStatus(status.state), review: undefined };
  return { ...toForgePullRequest(pullRequest, known), forge: 'forgejo', stackedOn: null, bot: undefined };
}

/** Merges by the requested method, or else prefers merge to squash and squash to rebase, as far as the repository allows. */
async function merge({ rest, path, target, pullRequest }: ActionContext): Promise<void> {
  const repository = (await rest.get(path)) as RepositoryNode;
  const { allow_merge_commits = true, allow_squash_merge = true, allow_rebase = true } = repository;
  const other = allow_squash_merge ? 'squash' : 'rebase';
  const style = allow_merge_commits || !(allow_squash_merge || allow_rebase) ? 'merge' : other;
  const head_commit_id = target.headSha ?? pullRequest.head.sha;
  await rest.send('POST', `${path}/pulls/${target.number}/merge`, { Do: target.method ?? style, head_commit_id });
}

async function addRebaseLabel(context: ActionContext): Promise<void> {
  const { rest, path, target, rebaseLabel } = context;
  const labels = await findLabels(context, [rebaseLabel]);
  await rest.send('POST', `${path}/issues/${target.number}/labels`, { labels });
}

/** Finds the ids of labels. @throws ForgeError `not_found` if the repository lacks one. */
async function findLabels({ rest, path }: ActionContext, names: readonly string[]): Promise<number[]> {
  const labels = await rest.list<{ id: number; name: string }>(`${path}/labels?limit=50`, 1_000);
  return names.map((name) => {
    const label = labels.find((one) => one.name === name);
    if (label === undefined) throw new ForgeError('not_found', { refusal: 'label_missing' });
    return label.id;
  });
}

const EVENTS = { approve: 'APPROVED', request_changes: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;

async function review({ rest, path, target, pullRequest }: ActionContext): Promise<void> {
  const { verdict, text = '' } = requireInput(target.review);
  const body = { event: EVENTS[verdict], body: text, commit_id: target.headSha ?? pullRequest.head.sha };
  await rest.send('POST', `${path}/pulls/${target.number}/reviews`, body);
}

async function edit(context: ActionContext): Promise<void> {
  const { rest, path, target, pullRequest } = context;
  const { assignees, labels = {}, ...others } = requireInput(target.edit);
  const [added, removed] = [
    await findLabels(context, labels.add ?? []),
    await findLabels(context, labels.remove ?? []),
  ];
  const pull = `${path}/pulls/${target.number}`;
  for (const [method, address, body] of toReviewerRequests(pull, others)) await rest.send(method, address, body);
  // The request replaces the assignees.
  const logins = applyNameChanges(
    (pullRequest.assignees ?? []).map(({ login }) => login),
    assignees,
  );
  if (assignees) await rest.send('PATCH', pull, { assignees: logins });
  const issue = `${path}/issues/${target.number}`;
  if (added.length > 0) await rest.send('POST', `${issue}/labels`, { labels: added });
  for (const id of removed) await rest.send('DELETE', `${issue}/labels/${id}`).catch(undefinedIfNotFound);
}

/** Recent releases of Gitea can rerun failed jobs through the API. Forgejo can't, up to release 16. */
const RERUN_NEEDS =
  "a server whose API can rerun checks, such as a recent Gitea; otherwise rerun them on the forge's pages";

async function rerunChecks({ rest, path, pullRequest }: ActionContext): Promise<void> {
  const runs = (await findFailedRuns(rest, { path, sha: pullRequest.head.sha }).catch(undefinedIfNotFound)) ?? [];
  if (runs.length === 0) throw new ForgeError('conflict', { refusal: 'unknown' });
  for (const run of runs) {
    await rest.send('POST', `${path}/actions/runs/${run}/rerun-failed-jobs`).catch(explainMissing);
  }
}

/** Rethrows errors. Explains 404, which means that the operation is missing, as the run itself exists. */
function explainMissing(error: unknown): never {
  if (!(error instanceof ForgeError) || error.status !== 404) throw error;
  throw new ForgeError('conflict', { status: 404, cause: error.cause, refusal: 'unknown', needs: RERUN_NEEDS });
}
