import { findBot } from '../board-rows.js';
import {
  type ActionRequests,
  doneResult,
  type EditRequest,
  type ForgeActionResult,
  requireInput,
  sendForgeAction,
  toReviewerRequests,
  type ActionCandidate,
} from '../forge-action.js';
import { type ActionErrorCode, ForgeError, undefinedIfNotFound } from '../forge-error.js';
import type { ActionName, BotReply, MergeMethod, PullRequestTarget } from '../forge.js';
import { withoutNulls } from '../http/graphql-pages.js';
import { toOwnerAndName, toRepositoryPath } from '../read-repositories.js';
import { findSafeLink } from '../sanitize.js';
import { findFailedWorkflowRuns } from './checks.js';
import type { ActionRepositoryNode, CommentNode } from './nodes.js';
import { toForgePullRequest } from './parse.js';
import { DEQUEUE, DISABLE_AUTO_MERGE, ENABLE_AUTO_MERGE, ENQUEUE, READ_PULL_REQUEST, READ_REPLIES } from './queries.js';
import type { GithubRequests } from './requests.js';

type PullRequest = NonNullable<ActionRepositoryNode['pullRequest']>;

interface ActionContext extends GithubActionOptions {
  readonly target: PullRequestTarget;
  readonly repository: ActionRepositoryNode;
  readonly pullRequest: PullRequest;
}

const REQUESTS: ActionRequests<ActionContext> = {
  merge,
  auto_merge: enableAutoMerge,
  cancel_auto_merge: ({ requests, pullRequest: { id } }) =>
    doneResult(requests.graphqlWhole(DISABLE_AUTO_MERGE, { id })),
  enqueue: ({ requests, target, pullRequest: { id, headRefOid } }) =>
    doneResult(requests.graphqlWhole(ENQUEUE, { id, headSha: target.headSha ?? headRefOid })),
  dequeue: ({ requests, pullRequest: { id } }) => doneResult(requests.graphqlWhole(DEQUEUE, { id })),
  update_branch: updateBranch,
  close: async ({ requests, target }) => doneResult(requests.send('PATCH', pullPath(target), { state: 'closed' })),
  dependabot_rebase: async (context) => comment(context, '@dependabot rebase'),
  dependabot_recreate: async (context) => comment(context, '@dependabot recreate'),
  renovate_rebase: async ({ requests, target, rebaseLabel }) =>
    doneResult(requests.send('POST', `${issuePath(target)}/labels`, { labels: [rebaseLabel] })),
  rerun_checks: rerunChecks,
  review,
  edit: async (context) => doneResult(edit(context)),
};

export const GITHUB_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

interface GithubActionOptions {
  readonly requests: GithubRequests;
  /** The label that makes Renovate rebase. Renovate's default is `rebase`. */
  readonly rebaseLabel: string;
}

/** @see Forge.act */
export async function actOnGithub(
  options: GithubActionOptions,
  target: PullRequestTarget,
  action: ActionName,
): Promise<ForgeActionResult> {
  const read = async (): Promise<ActionContext> => ({
    ...options,
    target,
    ...(await readTarget(options.requests, target)),
  });
  return sendForgeAction({ requests: REQUESTS, read, findClosed, judge }, action);
}

async function readTarget(requests: GithubRequests, { fullName, number }: PullRequestTarget) {
  const { owner, name } = toOwnerAndName(fullName);
  const data = await requests.graphql(READ_PULL_REQUEST, { owner, name, number });
  const { repository } = data as { readonly repository: ActionRepositoryNode | null };
  if (!repository?.pullRequest) throw new ForgeError('not_found');
  return { repository, pullRequest: repository.pullRequest };
}

function findClosed({ pullRequest: { state } }: ActionContext): ActionErrorCode | undefined {
  if (state === 'MERGED') return 'already_merged';
  return state === 'CLOSED' ? 'already_closed' : undefined;
}

function judge({ pullRequest, repository }: ActionContext): ActionCandidate {
  const facts = toForgePullRequest(pullRequest, repository);
  return { ...facts, forge: 'github', stackedOn: null, bot: findBot(facts.author, []) };
}

async function merge(context: ActionContext): Promise<ForgeActionResult> {
  const { requests, target, pullRequest } = context;
  const merge_method = target.method ?? (await chooseMethod(context));
  const sha = target.headSha ?? pullRequest.headRefOid;
  return doneResult(requests.send('PUT', `${pullPath(target)}/merge`, { merge_method, sha }));
}

async function enableAutoMerge(context: ActionContext): Promise<ForgeActionResult> {
  const { requests, target, pullRequest } = context;
  const { id, headRefOid } = pullRequest;
  const method = (await chooseMethod(context)).toUpperCase();
  const variables = { id, method, headSha: target.headSha ?? headRefOid };
  return doneResult(requests.graphqlWhole(ENABLE_AUTO_MERGE, variables));
}

/**
 * Prefers merge to squash and squash to rebase, as far as the repository and the rules of the base branch allow. A linear
 * history excludes merges.
 */
async function chooseMethod({ requests, target, repository, pullRequest }: ActionContext): Promise<MergeMethod> {
  const { mergeCommitAllowed, squashMergeAllowed, rebaseMergeAllowed } = repository;
  const isLinear = pullRequest.baseRef?.branchProtectionRule?.requiresLinearHistory === true;
  const allowed: MergeMethod[] = [
    ...(mergeCommitAllowed && !isLinear ? (['merge'] as const) : []),
    ...(squashMergeAllowed ? (['squash'] as const) : []),
    ...(rebaseMergeAllowed ? (['rebase'] as const) : []),
  ];
  const [first = 'merge', ...others] = allowed;
  if (others.length === 0) return first;
  const rules = await readBranchRules(requests, target, pullRequest.baseRefName);
  return allowed.find((method) => rules.every((rule) => allowsMethod(rule, method))) ?? first;
}

/** A rule of a ruleset. */
interface BranchRule {
  readonly type?: unknown;
  readonly parameters?: { readonly allowed_merge_methods?: unknown } | null;
}

/** Reads the rules of rulesets for a branch. If they can't be read, the merge itself shows whether they allow it. */
async function readBranchRules(
  requests: GithubRequests,
  { fullName }: PullRequestTarget,
  branch: string,
): Promise<readonly BranchRule[]> {
  const path = `${toRepositoryPath(fullName)}/rules/branches/${encodeURIComponent(branch)}?per_page=100`;
  return requests.list<BranchRule>(path, MAX_RULES).catch((error: unknown) => {
    if (error instanceof ForgeError) return [];
    throw error;
  });
}

const MAX_RULES = 200;

function allowsMethod({ type, parameters }: BranchRule, method: MergeMethod): boolean {
  if (type === 'required_linear_history') return method !== 'merge';
  const methods = type === 'pull_request' ? parameters?.allowed_merge_methods : undefined;
  return !Array.isArray(methods) || methods.includes(method);
}

async function updateBranch({ requests, target, pullRequest }: ActionContext): Promise<ForgeActionResult> {
  const expected_head_sha = target.headSha ?? pullRequest.headRefOid;
  const status = await requests.send('PUT', `${pullPath(target)}/update-branch`, { expected_head_sha });
  return status === 202 ? 'queued' : 'done';
}

interface CommentResponse {
  readonly node_id: string;
  readonly html_url: string;
}

async function comment({ requests, target }: ActionContext, body: string): Promise<ForgeActionResult> {
  const created = await requests.post(`${issuePath(target)}/comments`, { body });
  const { node_id: commentId, html_url } = created as CommentResponse;
  return { commentId, commentUrl: findSafeLink(html_url) };
}

const EVENTS = { approve: 'APPROVE', request_changes: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;

async function review({ requests, target, pullRequest }: ActionContext): Promise<ForgeActionResult> {
  const { verdict, text } = requireInput(target.review);
  const body = {
    event: EVENTS[verdict],
    commit_id: target.headSha ?? pullRequest.headRefOid,
    ...(text && { body: text }),
  };
  return doneResult(requests.send('POST', `${pullPath(target)}/reviews`, body));
}

async function edit({ requests, target }: ActionContext): Promise<void> {
  const { assignees = {}, labels = {}, ...others } = requireInput(target.edit);
  const issue = issuePath(target);
  const asked: EditRequest[] = [
    ...toReviewerRequests(pullPath(target), others),
    ...(assignees.add ? ([['POST', `${issue}/assignees`, { assignees: assignees.add }]] as const) : []),
    ...(assignees.remove ? ([['DELETE', `${issue}/assignees`, { assignees: assignees.remove }]] as const) : []),
    ...(labels.add ? ([['POST', `${issue}/labels`, { labels: labels.add }]] as const) : []),
  ];
  for (const [method, path, body] of asked) await requests.send(method, path, body);
  for (const label of labels.remove ?? [])
    await requests.send('DELETE', `${issue}/labels/${encodeURIComponent(label)}`).catch(undefinedIfNotFound);
}

/** Reruns the failed jobs of workflows. Checks of other apps can't be rerun here. */
async function rerunChecks({ requests, target }: ActionContext): Promise<ForgeActionResult> {
  const { completed, isAnyRunning } = await findFailedWorkflowRuns(requests, target);
  if (completed.length === 0) {
    throw new ForgeError('conflict', { refusal: isAnyRunning ? 'checks_pending' : 'unknown' });
  }
  for (const run of completed) {
    await requests.send('POST', `${toRepositoryPath(target.fullName)}/actions/runs/${run}/rerun-failed-jobs`);
  }
  return 'queued';
}

const pullPath = ({ fullName, number }: PullRequestTarget): string => `${toRepositoryPath(fullName)}/pulls/${number}`;
const issuePath = ({ fullName, number }: PullRequestTarget): string => `${toRepositoryPath(fullName)}/issues/${number}`;

/** GraphQL's limit for ids in one query. */
const MAX_COMMENTS = 100;

/** Dependabot's reply to authors without push access, which includes all Apps. */
const REFUSED = /only users with push access can use that command/i;

/** Reads Dependabot's replies to comments with commands, in one request. */
export async function readBotReplies(
  requests: Pick<GithubRequests, 'graphql'>,
  comments: readonly string[],
): Promise<ReadonlyMap<string, BotReply>> {
  const data = await requests.graphql(READ_REPLIES, { ids: comments.slice(0, MAX_COMMENTS) });
  const { nodes } = data as { readonly nodes: readonly (CommentNode | null)[] };
  return new Map(withoutNulls(nodes).map((node) => [node.id, toReply(node)]));
}

function toReply({ createdAt, reactionGroups, pullRequest }: CommentNode): BotReply {
  const thumbs = (reactionGroups ?? []).find(({ content }) => content === 'THUMBS_UP')?.reactors.edges ?? [];
  const thumb = withoutNulls(thumbs).find(({ node }) => isDependabot(node.login));
  const later = withoutNulls(pullRequest?.comments.nodes ?? []).filter((one) => one.createdAt >= createdAt);
  const isRefused = later.some(({ author, body }) => isDependabot(author?.login) && REFUSED.test(body));
  return { isRefused, ...(thumb && { acknowledgedAt: thumb.reactedAt }) };
}

const isDependabot = (login = ''): boolean => findBot(login, []) === 'dependabot';
