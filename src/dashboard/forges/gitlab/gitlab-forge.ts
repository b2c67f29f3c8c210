import {
  type ActionRequests,
  applyNameChanges,
  doneResult,
  type ForgeActionResult,
  queuedResult,
  requireInput,
  sendForgeAction,
  type ActionCandidate,
} from '../forge-action.js';
import { ForgeError, type ActionErrorCode } from '../forge-error.js';
import type { Forge, Inspection, PullRequestOutcome, PullRequestTarget, WebhookConfig, ActionName } from '../forge.js';
import type { RestClient } from '../http/requests.js';
import { withForgeErrors } from '../sanitize.js';
import { findMissingPermissions, probeWebhookAccess, replaceWebhooks } from '../webhooks.js';
import { readGitlabChecks, readGitlabDetails, pipelinePath, readMergeRequest } from './details.js';
import { toForgePullRequest } from './parse.js';
import type { TargetMergeRequestNode } from './queries.js';
import { readInvolvedMergeRequests, createGitlabReader } from './reader.js';
import { createGitlabRequests, type GitlabOptions, toProjectPath, type GitlabRequests } from './requests.js';

export interface GitlabForgeOptions extends GitlabOptions {
  readonly rebaseLabel?: string;
}

/** Creates a client for gitlab.com or a self-managed GitLab. */
export function createGitlabForge({ rebaseLabel = 'rebase', ...options }: GitlabForgeOptions): Forge {
  const requests = createGitlabRequests(options);
  const reader = createGitlabReader(requests);
  const forge: Forge = {
    name: 'gitlab',
    actions: GITLAB_ACTIONS,
    quotas: requests.budgets,
    ...reader,
    readInvolved: (...args) => readInvolvedMergeRequests(requests, ...args),
    inspect: () => inspectGitlab(requests, reader.discover),
    readState: (target) => readMergeRequestState(requests, target),
    checks: (target) => readGitlabChecks(requests, target),
    details: (target) => readGitlabDetails(requests, target),
    act: (target, action) => actOnGitlab({ requests, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureGitlabWebhook(requests, fullName, hook),
  };
  return withForgeErrors(forge, options.baseUrl);
}

/** @see Forge.readState */
async function readMergeRequestState(rest: RestClient, target: PullRequestTarget): Promise<PullRequestOutcome> {
  const path = `${toProjectPath(target.fullName)}/merge_requests/${target.number}`;
  const { state } = (await rest.get(path)) as { readonly state: string };
  if (state === 'merged') return 'merged';
  return state === 'closed' ? 'closed' : 'open';
}

const WRITE_PERMISSION = { permission: 'api', purpose: 'to act on merge requests and set up webhooks' };
const READ_PERMISSION = { permission: 'api', purpose: 'to list merge requests and issues and act on them' };

/** Finds the user of a token and its missing permissions. */
async function inspectGitlab(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
  const { scopes, expires_at = null } = await readToken(rest);
  const expiresAt = expires_at === null ? undefined : Date.parse(expires_at);
  const mayAct = scopes?.includes('api') ?? true;
  if (!mayAct && scopes?.includes('read_api') === false) return { repositories: undefined, missing: [READ_PERMISSION] };
  const { username } = (await rest.get('/user')) as { readonly username: string };
  const repositories = await discover();
  if (!mayAct) return { username, repositories, expiresAt, missing: [WRITE_PERMISSION] };
  const list = (fullName: string) => rest.get(`${toProjectPath(fullName)}/hooks?per_page=1`);
  return {
    username,
    repositories,
    expiresAt,
    missing: await findMissingPermissions(probeWebhookAccess(repositories, 'api', list)),
  };
}

interface TokenNode {
  readonly scopes?: readonly string[];
  /** A day, on which the token expires at midnight UTC. */
  readonly expires_at?: string | null;
}

/** Reads the token. Returns nothing if the server is too old, or the token is not a personal one. */
async function readToken(rest: RestClient): Promise<TokenNode> {
  try {
    return (await rest.get('/personal_access_tokens/self')) as TokenNode;
  } catch (error) {
    if (error instanceof ForgeError && [400, 403, 404].includes(error.status ?? 0)) return {};
    throw error;
  }
}

const NEEDS = 'a maintainer of the project, with a token with the scope api';

/** Creates the webhook with the events of a board. GitLab has one flag per event; `push_events` is on by default. */
async function ensureGitlabWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toProjectPath(fullName), pages: 'per_page=100', hook, needs: NEEDS };
  await replaceWebhooks(rest, place, {
    url: hook.url,
    token: hook.secret,
    enable_ssl_verification: true,
    push_events: true,
    merge_requests_events: true,
    note_events: true,
    issues_events: true,
    confidential_issues_events: true,
    pipeline_events: true,
  });
}

interface GitlabActionOptions {
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

const GITLAB_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

/** @see Forge.act */
async function actOnGitlab(
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
async function review(context: ActionContext): Promise<void> {
  const { requests, path, target } = context;
  const { verdict, text } = requireInput(target.review);
  if (verdict === 'approve') await approve(context);
  if (text !== undefined) await requests.send('POST', `${path}/notes`, { body: text });
}

/** Approves, or does nothing if the user has approved: GitLab rejects a second approval like a missing permission. */
async function approve({ requests, path, sha }: ActionContext): Promise<void> {
  await requests.send('POST', `${path}/approve`, { sha }).catch(async (error: unknown) => {
    if (!(error instanceof ForgeError) || error.status !== 401) throw error;
    const { user_has_approved: isApproved } = (await requests.get(`${path}/approvals`)) as {
      readonly user_has_approved?: unknown;
    };
    if (isApproved !== true) throw error;
  });
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
