import {
  type ActionRequests,
  applyNameChanges,
  doneResult,
  type ForgeActionResult,
  queuedResult,
  requireInput,
  sendForgeAction,
  toReviewerRequests,
  type ActionCandidate,
} from '../forge-action.js';
import { type ActionErrorCode, ForgeError, undefinedIfNotFound } from '../forge-error.js';
import type { Forge, Inspection, WebhookConfig, ActionName, PullRequestTarget } from '../forge.js';
import type { ForgeResponse } from '../http/fetch-response.js';
import {
  createForgeRequests,
  type ForgeRequestsOptions,
  type LimitScope,
  readRetryAfter,
  createRestClient,
  type RestClient,
} from '../http/requests.js';
import { toRepositoryPath, readPullRequestState } from '../read-repositories.js';
import { withForgeErrors } from '../sanitize.js';
import { findMissingPermissions, type PermissionProbe, probeWebhookAccess, replaceWebhooks } from '../webhooks.js';
import { readForgejoChecks, readForgejoDetails, findFailedRuns, readCombinedCi } from './details.js';
import { type PullRequestNode, type RepositoryNode, toForgePullRequest } from './parse.js';
import { createForgejoReader } from './reader.js';

export interface ForgejoForgeOptions extends ForgejoOptions {
  readonly rebaseLabel?: string;
}

/** Creates a client for Forgejo or Gitea. */
export function createForgejoForge({ rebaseLabel = 'rebase', ...options }: ForgejoForgeOptions): Forge {
  const rest = createForgejoRequests(options);
  const reader = createForgejoReader(rest, options.baseUrl);
  const forge: Forge = {
    name: 'forgejo',
    actions: FORGEJO_ACTIONS,
    quotas: {},
    ...reader,
    inspect: () => inspectForgejo(rest, reader.discover),
    readState: (target) => readPullRequestState(rest, target),
    checks: (target) => readForgejoChecks(rest, target),
    details: (target) => readForgejoDetails(rest, target),
    act: (target, action) => actOnForgejo({ rest, rebaseLabel }, target, action),
    ensureWebhook: (fullName, hook) => ensureForgejoWebhook(rest, fullName, hook),
  };
  return withForgeErrors(forge, options.baseUrl);
}

interface ForgejoOptions extends ForgeRequestsOptions {
  /** The URL of the forge's pages. The API is below it. */
  readonly baseUrl: string;
  readonly token: string;
}

/** The pause after a rate limit error without a reset time, from Forgejo or a proxy. */
const DEFAULT_PAUSE_MS = 60_000;

function createForgejoRequests({ baseUrl, token, ...options }: ForgejoOptions): RestClient {
  const headers = {
    Authorization: `token ${token}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'trellis',
  };
  // Forgejo reports no API quotas.
  const dialect = { forge: 'forgejo', headers, readBudget: () => undefined, findLimit } as const;
  return createRestClient(createForgeRequests(dialect, options), `${baseUrl}/api/v1`);
}

function findLimit({ status, headers }: ForgeResponse, at: number): LimitScope | undefined {
  if (status !== 429) return undefined;
  return { of: 'all', until: readRetryAfter(headers, at) ?? at + DEFAULT_PAUSE_MS };
}

/**
 * Finds the user of a token and its missing permissions, with one read request per scope: the API can't list scopes.
 */
async function inspectForgejo(rest: RestClient, discover: Forge['discover']): Promise<Inspection> {
  const missing = await findMissingPermissions(toProbes(rest));
  if (missing.length > 0) return { repositories: undefined, missing };
  const { login } = (await rest.get('/user')) as { readonly login: string };
  const repositories = await discover();
  const list = (fullName: string) => rest.get(`${toRepositoryPath(fullName)}/hooks?limit=1`);
  const hooks = await findMissingPermissions(probeWebhookAccess(repositories, 'write:repository', list));
  return { username: login, repositories, missing: hooks };
}

function toProbes(rest: RestClient): PermissionProbe[] {
  return [
    { permission: 'read:user', purpose: 'to identify the user', ask: () => rest.get('/user') },
    {
      permission: 'write:repository',
      purpose: 'to list and merge pull requests',
      ask: () => rest.get('/user/repos?limit=1'),
    },
    {
      permission: 'write:issue',
      purpose: 'to list issues, set labels and comment',
      ask: () => rest.get('/repos/issues/search?limit=1'),
    },
  ];
}

/**
 * The first two include all events of their kind, such as labels, reviews and comments. Finished checks are `status`
 * events at Gitea and `action_run_*` events at Forgejo. A server ignores events that it doesn't know.
 */
const EVENTS = [
  'issues',
  'pull_request',
  'push',
  'status',
  'action_run_failure',
  'action_run_recover',
  'action_run_success',
];

const NEEDS = 'an admin of the repository, with a token with the scope write:repository';

/** Creates the webhook with the events of a board. Its generic type is called `gitea` at Forgejo too. */
async function ensureForgejoWebhook(rest: RestClient, fullName: string, hook: WebhookConfig): Promise<void> {
  const place = { repository: toRepositoryPath(fullName), pages: 'limit=50', hook, needs: NEEDS };
  const config = { url: hook.url, content_type: 'json', secret: hook.secret };
  await replaceWebhooks(rest, place, { type: 'gitea', active: true, events: EVENTS, branch_filter: '*', config });
}

interface ForgejoActionOptions {
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

const FORGEJO_ACTIONS = Object.keys(REQUESTS) as readonly ActionName[];

/** @see Forge.act */
async function actOnForgejo(
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
  const ci = await readCombinedCi(rest, { path, sha: pullRequest.head.sha });
  const known = { repo: target.fullName, ci, review: undefined };
  return { ...toForgePullRequest(pullRequest, known), forge: 'forgejo', stackedOn: null, bot: undefined };
}

/** The methods of merging in order of preference, with the setting of a repository that allows each. */
const MERGE_STYLES = [
  ['merge', 'allow_merge_commits'],
  ['squash', 'allow_squash_merge'],
  ['rebase', 'allow_rebase'],
  ['rebase-merge', 'allow_rebase_explicit'],
  ['fast-forward-only', 'allow_fast_forward_only_merge'],
] as const;

/** Merges by the requested method, or else by the first one that the repository allows. */
async function merge({ rest, path, target, pullRequest }: ActionContext): Promise<void> {
  const repository = (await rest.get(path)) as RepositoryNode;
  // Servers that are too old for a setting do not have it.
  const [style] = MERGE_STYLES.find(([, setting]) => repository[setting] ?? true) ?? ['merge'];
  const head_commit_id = target.headSha ?? pullRequest.head.sha;
  await rest.send('POST', `${path}/pulls/${target.number}/merge`, { Do: target.method ?? style, head_commit_id });
}

async function addRebaseLabel(context: ActionContext): Promise<void> {
  const { rest, path, target, rebaseLabel } = context;
  const labels = await findLabels(context, [rebaseLabel]);
  await rest.send('POST', `${path}/issues/${target.number}/labels`, { labels });
}

interface LabelNode {
  readonly id: number;
  readonly name: string;
}

/** Finds the ids of labels. @throws ForgeError `not_found` if the repository and its organization lack one. */
async function findLabels(context: ActionContext, names: readonly string[]): Promise<number[]> {
  const { rest, path, pullRequest } = context;
  const known = [...(pullRequest.labels ?? []), ...(await rest.list<LabelNode>(`${path}/labels?limit=50`, 1_000))];
  const isKnown = (name: string): boolean => known.some((one) => one.name === name);
  const labels = names.every(isKnown) ? known : [...known, ...(await listOrganizationLabels(context))];
  return names.map((name) => {
    const label = labels.find((one) => one.name === name);
    if (label === undefined) throw new ForgeError('not_found', { refusal: 'label_missing' });
    return label.id;
  });
}

/** Lists the labels that an organization has for all of its repositories. Reading them takes a scope of its own. */
async function listOrganizationLabels({ rest, target }: ActionContext): Promise<LabelNode[]> {
  const [owner = ''] = target.fullName.split('/');
  return rest.list<LabelNode>(`/orgs/${encodeURIComponent(owner)}/labels?limit=50`, 1_000).catch((error: unknown) => {
    // The owner is a user, or the token lacks the scope `read:organization`.
    if (error instanceof ForgeError && ['not_found', 'unauthorized'].includes(error.kind)) return [];
    throw error;
  });
}

const REVIEW_EVENTS = { approve: 'APPROVED', request_changes: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;

async function review({ rest, path, target, pullRequest }: ActionContext): Promise<void> {
  const { verdict, text = '' } = requireInput(target.review);
  const body = { event: REVIEW_EVENTS[verdict], body: text, commit_id: target.headSha ?? pullRequest.head.sha };
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
