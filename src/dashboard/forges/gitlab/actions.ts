import {
  type ActionRequests,
  applyNameChanges,
  doneResult,
  type ForgeActionResult,
  queuedResult,
  requireInput,
  sendForgeAction,
} from '../forge-action.js';
import { type ActionErrorCode, ForgeError } from '../forge-error.js';
import type { ActionName, PullRequestTarget } from '../forge.js';
import type { ActionCandidate } from '../rules/allowed-actions.js';
import { pipelinePath, readMergeRequest } from './checks.js';
import { toForgePullRequest } from './parse.js';
import type { TargetMergeRequestNode } from './queries.js';
import { type GitlabRequests, toProjectPath } from './requests.js';

export interface GitlabActionOptions {
  readonly requests: GitlabRequests;
  /** The label that makes Renovate rebase. */
  readonly rebaseLabel: string;
}

interface ActionContext extends GitlabActionOptions {
  readonly target: PullRequestTarget;
  /** The path of the merge request. */
  readonly path: string;
  readonly sha: string;
  readonly mergeRequest: TargetMergeRequestNode;
}

const REQUESTS: ActionRequests<ActionContext> = {
  merge: ({ requests, path, sha, target: { method } }) => {
    // GitLab merges or rebases as the project's settings say.
    const squash = method === 'squash' ? { squash: true } : {};
    return doneResult(requests.send('PUT', `${path}/merge`, { sha, ...squash }));
  },
  // GitLab before 17.11 knows only the older name of the parameter.
  auto_merge: ({ requests, path, sha }) =>
    doneResult(requests.send('PUT', `${path}/merge`, { sha, auto_merge: true, merge_when_pipeline_succeeds: true })),
  cancel_auto_merge: ({ requests, path }) =>
    doneResult(requests.send('POST', `${path}/cancel_merge_when_pipeline_succeeds`)),
  close: ({ requests, path }) => doneResult(requests.send('PUT', path, { state_event: 'close' })),
  update_branch: ({ requests, path }) => queuedResult(requests.send('PUT', `${path}/rebase`)),
  renovate_rebase: ({ requests, path, rebaseLabel }) =>
    doneResult(requests.send('PUT', path, { add_labels: rebaseLabel })),
  rerun_checks: (context) => queuedResult(retryPipeline(context)),
  review: (context) => doneResult(review(context)),
  edit: (context) => doneResult(edit(context)),
};

export const GITLAB_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

/** @see Forge.act */
export async function actOnGitlab(
  options: GitlabActionOptions,
  target: PullRequestTarget,
  action: ActionName,
): Promise<ForgeActionResult> {
  const path = `${toProjectPath(target.fullName)}/merge_requests/${target.number}`;
  const read = async (): Promise<ActionContext> => {
    const mergeRequest = await readMergeRequest(options.requests, target);
    return { ...options, target, path, sha: target.headSha ?? mergeRequest.diffHeadSha ?? '', mergeRequest };
  };
  return sendForgeAction({ requests: REQUESTS, read, findClosed, judge }, action);
}

function findClosed({ mergeRequest: { state } }: ActionContext): ActionErrorCode | undefined {
  if (state === 'merged') return 'already_merged';
  return state === 'closed' ? 'already_closed' : undefined;
}

function judge({ mergeRequest, target }: ActionContext): ActionCandidate {
  const facts = toForgePullRequest(mergeRequest, target.fullName);
  return { ...facts, forge: 'gitlab', stackedOn: null, bot: undefined };
}

async function retryPipeline({ requests, target, mergeRequest }: ActionContext): Promise<void> {
  const { headPipeline } = mergeRequest;
  if (headPipeline === null) throw new ForgeError('conflict', { refusal: 'unknown' });
  await requests.send('POST', `${pipelinePath(headPipeline, target)}/retry`);
}

/** GitLab has no requests for changes in its REST API. An approval and its text are two requests. */
async function review({ requests, path, sha, target }: ActionContext): Promise<void> {
  const { verdict, text } = requireInput(target.review);
  if (verdict === 'approve') await requests.send('POST', `${path}/approve`, { sha });
  if (text !== undefined) await requests.send('POST', `${path}/notes`, { body: text });
}

interface PeopleNode {
  readonly reviewers?: readonly UserNode[] | null;
  readonly assignees?: readonly UserNode[] | null;
}

interface UserNode {
  readonly id: number;
  readonly username: string;
}

/** Sends one request, which replaces the reviewers and the assignees by their ids. */
async function edit({ requests, path, target }: ActionContext): Promise<void> {
  const { reviewers, assignees, labels } = requireInput(target.edit);
  const people = reviewers || assignees ? ((await requests.get(path)) as PeopleNode) : {};
  const toIds = async (users: readonly UserNode[] | null | undefined, changes: typeof reviewers): Promise<number[]> => {
    const known = users ?? [];
    const names = applyNameChanges(
      known.map(({ username }) => username),
      changes,
    );
    return Promise.all(
      names.map(async (name) => known.find(({ username }) => username === name)?.id ?? findUserId(requests, name)),
    );
  };
  await requests.send('PUT', path, {
    ...(reviewers && { reviewer_ids: await toIds(people.reviewers, reviewers) }),
    ...(assignees && { assignee_ids: await toIds(people.assignees, assignees) }),
    ...(labels?.add && { add_labels: labels.add.join(',') }),
    ...(labels?.remove && { remove_labels: labels.remove.join(',') }),
  });
}

async function findUserId(requests: GitlabRequests, username: string): Promise<number> {
  const [user] = (await requests.get(`/users?username=${encodeURIComponent(username)}`)) as readonly UserNode[];
  if (user === undefined) throw new ForgeError('not_found', { refusal: 'unknown' });
  return user.id;
}
