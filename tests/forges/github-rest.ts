import type { TestResponse, RecordedRequest } from './forge-server.js';
import { findRepository } from './github-graphql.js';
import {
  listCheckRuns,
  listIssues,
  listOwnIssues,
  listPullRequests,
  listRepositories,
  searchIssues,
  toListedPullRequest,
  toPullRequestNode,
  toRepositoryNode,
  type PublicState,
  type UserState,
} from './github-public.js';
import type { GithubPullRequest, GithubRepository, GithubRun } from './github-state.js';
import { handleWebhookRequest, type HookChange, type TestHook } from './hooks.js';
import { toPage } from './paged.js';
import { handleRoute, type Matched, type Route } from './routes.js';

const refuse = (status: number, message: string): TestResponse => ({
  status,
  body: { message, documentation_url: '' },
});
const NOT_FOUND = refuse(404, 'Not Found');

export interface GithubRestState extends UserState {
  readonly scopes: readonly string[];
  /** Whether the scopes of the token include webhooks. */
  readonly mayWriteHooks: boolean;
}

interface Found {
  readonly seen: RecordedRequest;
  readonly forge: GithubRestState;
  readonly repository: GithubRepository;
  /** The number or id in the path. */
  readonly id: number;
  /** The remaining path. */
  readonly rest: string;
}

const ROUTES: readonly Route<Found>[] = [
  ['GET', /^$/, ({ repository, forge }) => ({ body: toRepositoryNode(repository, forge) })],
  ['*', /^\/hooks()(\/\d+|)$/, hooks],
  ['GET', /^\/issues$/, listIssues],
  ['GET', /^\/pulls$/, listPullRequests],
  ['GET', /^\/pulls\/(\d+)$/, ofPullRequest(toPullRequest)],
  ['GET', /^\/rules\/branches\/[^/]+$/, ({ repository }) => ({ body: repository.branchRules })],
  ['GET', /^\/commits\/()(\w+)\/check-runs$/, (found) => listCheckRuns(found, found.rest)],
  ['GET', /^\/actions\/jobs\/(\d+)$/, ofJob(({ steps, name }) => ({ body: { name, steps } }))],
  ['GET', /^\/actions\/jobs\/(\d+)\/logs$/, ofJob(toLogStorage)],
  ['POST', /^\/actions\/runs\/(\d+)\/rerun-failed-jobs$/, rerun],
  ['PUT', /^\/pulls\/(\d+)\/merge$/, ofPullRequest(merge)],
  ['PUT', /^\/pulls\/(\d+)\/update-branch$/, ofPullRequest(updateBranch)],
  ['PATCH', /^\/pulls\/(\d+)$/, ofPullRequest(close)],
  ['POST', /^\/issues\/(\d+)\/comments$/, ofPullRequest(comment)],
  ['POST', /^\/issues\/(\d+)\/labels$/, ofPullRequest(label)],
  ['DELETE', /^\/issues\/(\d+)\/labels(\/[^/]+)$/, ofPullRequest(removeLabel)],
  ['POST', /^\/issues\/(\d+)\/assignees$/, ofPullRequest(assign)],
  ['DELETE', /^\/issues\/(\d+)\/assignees$/, ofPullRequest(unassign)],
  ['POST', /^\/pulls\/(\d+)\/reviews$/, ofPullRequest(review)],
  ['POST', /^\/pulls\/(\d+)\/requested_reviewers$/, ofPullRequest(requestReviews)],
  ['DELETE', /^\/pulls\/(\d+)\/requested_reviewers$/, ofPullRequest(cancelRequests)],
];

/** Responds to requests below `/repos` and to lists of repositories. */
export function handleRestRequest(seen: RecordedRequest, forge: GithubRestState): TestResponse {
  const [, login] = /^\/users\/([^/]+)\/repos$/.exec(seen.path) ?? [];
  if (login !== undefined) return listRepositories({ seen, forge }, login);
  if (seen.path === '/user') {
    return { body: { login: forge.login }, headers: { 'X-OAuth-Scopes': forge.scopes.join(', ') } };
  }
  if (seen.path === '/search/issues') return searchIssues({ seen, forge });
  if (seen.path === '/issues') return listOwnIssues({ seen, forge });
  if (seen.path === '/installation/repositories') return listInstalled(seen, forge);
  const [, fullName = '', path = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(seen.path) ?? [];
  const repository = findRepository(forge.repositories, fullName);
  if (!repository) return NOT_FOUND;
  if (repository.nameWithOwner !== fullName) {
    const headers = { Location: `/repos/${repository.nameWithOwner}${path}` };
    return { status: seen.method === 'GET' ? 301 : 307, headers, body: { message: 'Moved Permanently' } };
  }
  const { method } = seen;
  const find = ({ id, rest }: Matched): Found => ({ seen, forge, repository, id: Number(id), rest });
  return handleRoute(ROUTES, { method, path }, find) ?? NOT_FOUND;
}

/** Lists the repositories of the App's installation. */
function listInstalled(seen: RecordedRequest, forge: GithubRestState): TestResponse {
  const nodes = forge.repositories.map((one) => toRepositoryNode(one, forge));
  const { body, ...answer } = toPage(nodes, seen, { url: forge.url, size: 'per_page' });
  return { ...answer, body: { total_count: nodes.length, repositories: body } };
}

function toPullRequest(one: GithubPullRequest, _body: unknown, { repository, forge }: Found): TestResponse {
  return { body: toPullRequestNode(one, repository, forge) };
}

const NO_SCOPE: TestResponse = {
  status: 403,
  headers: { 'X-Accepted-GitHub-Permissions': 'repository_hooks=write' },
  body: { message: 'Resource not accessible by personal access token', documentation_url: '', status: '403' },
};

/** GitHub hides webhooks from users who aren't admins with 404. */
function hooks({ seen, forge, repository, rest }: Found): TestResponse {
  const forbidden = repository.viewerPermission === 'ADMIN' ? undefined : NOT_FOUND;
  const refuse = forge.mayWriteHooks ? forbidden : NO_SCOPE;
  const isTaken = (url: unknown) => repository.hooks.some((hook) => hook.url === url);
  if (!refuse && seen.method === 'POST' && isTaken(readChange(JSON.parse(seen.body) as Record<string, unknown>).url)) {
    return refuse422('Hook already exists on this repository');
  }
  return handleWebhookRequest(seen, rest, {
    refuse,
    hooks: repository.hooks,
    toNode: toHookNode,
    page: (nodes) => toPage(nodes, seen, { url: forge.url, size: 'per_page' }),
    readChange,
    edit: (hook, change) => Object.assign(hook, change),
  });
}

const refuse422 = (message: string): TestResponse => refuse(422, `Validation Failed: ${message}`);

/** Masks the secret. */
function toHookNode({ id, url, secret, events, contentType, active }: TestHook) {
  const hidden = secret === '' ? {} : { secret: '********' };
  const config = { url, content_type: contentType, insecure_ssl: '0', ...hidden };
  return { type: 'Repository', id, name: 'web', active, events, config };
}

function readChange({ active, events, config }: Record<string, unknown>): HookChange {
  const { url, content_type, secret } = (config ?? {}) as Record<string, string | undefined>;
  return {
    ...(typeof active === 'boolean' && { active }),
    ...(Array.isArray(events) && { events: events as string[] }),
    ...(url !== undefined && { url }),
    ...(content_type !== undefined && { contentType: content_type }),
    ...(secret !== undefined && { secret }),
  };
}

function ofPullRequest(answer: (one: GithubPullRequest, body: Record<string, unknown>, found: Found) => TestResponse) {
  return (found: Found): TestResponse => {
    const one = found.repository.pullRequests.find(({ number }) => number === found.id);
    return one ? answer(one, JSON.parse(found.seen.body || '{}') as Record<string, unknown>, found) : NOT_FOUND;
  };
}

function ofJob(answer: (run: GithubRun, forge: GithubRestState) => TestResponse) {
  return ({ repository, id, forge }: Found): TestResponse => {
    const run = listRuns(repository).find(({ databaseId }) => databaseId === id);
    return run ? answer(run, forge) : NOT_FOUND;
  };
}

const LOG_STORAGE = '/log-storage/';

/** GitHub keeps logs at a storage service with a different host name. */
function toLogStorage({ databaseId }: GithubRun, { url }: GithubRestState): TestResponse {
  const Location = `${url.replace('127.0.0.1', 'localhost')}${LOG_STORAGE}${databaseId}`;
  return { status: 302, headers: { Location }, body: '' };
}

/** Responds as the storage service, which rejects credentials of others. @returns `undefined` for other requests. */
export function readLogStorage({ path, headers }: RecordedRequest, forge: PublicState): TestResponse | undefined {
  if (!path.startsWith(LOG_STORAGE)) return undefined;
  if (headers.authorization !== undefined) return { status: 400, body: '<Code>InvalidAuthenticationInfo</Code>' };
  const runs = forge.repositories.flatMap(listRuns);
  return { body: runs.find(({ databaseId }) => path === `${LOG_STORAGE}${databaseId}`)?.log ?? '' };
}

function listRuns({ pullRequests }: GithubRepository): GithubRun[] {
  return pullRequests.flatMap(({ checks }) => checks).filter((check) => check.kind === 'run');
}

function rerun({ repository, id }: Found): TestResponse {
  const isRunning = listRuns(repository).some((run) => run.workflowRun === id && run.status !== 'COMPLETED');
  if (isRunning) return refuse(403, 'This workflow is already running');
  const failed = listRuns(repository).filter((run) => run.workflowRun === id && run.conclusion !== 'SUCCESS');
  if (failed.length === 0) return refuse(403, 'This workflow run cannot be retried');
  for (const run of failed) Object.assign(run, { status: 'QUEUED', conclusion: null });
  return { status: 201, body: {} };
}

const REFUSED_METHOD: Readonly<Record<string, string>> = {
  merge: 'Merge commits are not allowed on this repository.',
  squash: 'Squash merges are not allowed on this repository.',
  rebase: 'Rebase merges are not allowed on this repository.',
};

function merge(one: GithubPullRequest, { merge_method, sha }: Record<string, unknown>, found: Found): TestResponse {
  const { mergeCommitAllowed, squashMergeAllowed, rebaseMergeAllowed, requiresLinearHistory } = found.repository;
  const allowed: Record<string, boolean> = {
    merge: mergeCommitAllowed && !requiresLinearHistory,
    squash: squashMergeAllowed,
    rebase: rebaseMergeAllowed,
  };
  if (one.state !== 'OPEN') return refuse(405, 'Pull Request is not mergeable');
  if (sha !== one.headRefOid) return refuse(409, 'Head branch was modified. Review and try the merge again.');
  if (found.repository.usesMergeQueue) return refuse(405, 'Changes must be made through the merge queue');
  const [violation] = found.repository.ruleViolations;
  if (violation !== undefined) return refuse(405, `Repository rule violations found\n\n${violation}\n\n`);
  if (!found.repository.branchRules.every((rule) => allowsMethod(rule, String(merge_method))))
    return refuse(405, 'Repository rule violations found\n\nThe merge method is not allowed.\n\n');
  if (!allowed[String(merge_method)])
    return refuse(405, REFUSED_METHOD[String(merge_method)] ?? 'Invalid merge method');
  if (!['CLEAN', 'HAS_HOOKS', 'UNSTABLE'].includes(one.mergeStateStatus)) {
    return refuse(405, 'Pull Request is not mergeable');
  }
  Object.assign(one, { state: 'MERGED', mergedBy: merge_method });
  return { body: { merged: true, sha, message: 'Pull Request successfully merged' } };
}

function allowsMethod({ type, parameters }: GithubRepository['branchRules'][number], method: string): boolean {
  if (type === 'required_linear_history') return method !== 'merge';
  return parameters?.allowed_merge_methods.includes(method) ?? true;
}

function updateBranch(one: GithubPullRequest, { expected_head_sha }: Record<string, unknown>): TestResponse {
  if (expected_head_sha !== one.headRefOid) return refuse(422, 'expected head sha didn’t match current head ref.');
  if (one.mergeable === 'CONFLICTING') return refuse(422, 'merge conflict between base and head');
  if (one.mergeStateStatus !== 'BEHIND') return refuse(422, 'There are no new commits on the base branch.');
  Object.assign(one, { headRefOid: 'f'.repeat(40), mergeStateStatus: 'CLEAN' });
  return { status: 202, body: { message: 'Updating pull request branch.', url: '' } };
}

function close(one: GithubPullRequest, { state }: Record<string, unknown>): TestResponse {
  if (state !== 'closed') return refuse(422, 'Validation Failed');
  one.state = 'CLOSED';
  return { body: { number: one.number, state } };
}

function comment(one: GithubPullRequest, { body }: Record<string, unknown>): TestResponse {
  one.comments.push(String(body));
  const id = one.comments.length;
  const node = { id, node_id: `IC_${id - 1}_${one.id}`, html_url: `https://github.com/comment/${id}`, body };
  return { status: 201, body: node };
}

function label(one: GithubPullRequest, { labels }: Record<string, unknown>): TestResponse {
  for (const name of labels as string[]) one.labels.push({ name, color: 'ededed' });
  return { body: one.labels };
}

function removeLabel(one: GithubPullRequest, _body: unknown, { rest }: Found): TestResponse {
  const name = decodeURIComponent(rest.slice(1));
  if (!one.labels.some((known) => known.name === name)) return refuse(404, 'Label does not exist');
  one.labels = one.labels.filter((known) => known.name !== name);
  return { body: one.labels };
}

/** GitHub ignores people who can't be assigned. */
function assign(one: GithubPullRequest, { assignees }: Record<string, unknown>, found: Found): TestResponse {
  const added = (assignees as string[]).filter((login) => found.repository.collaborators.includes(login));
  one.assignees = [...new Set([...one.assignees, ...added])];
  return { status: 201, body: { number: one.number } };
}

function unassign(one: GithubPullRequest, { assignees }: Record<string, unknown>): TestResponse {
  one.assignees = one.assignees.filter((login) => !(assignees as string[]).includes(login));
  return { body: { number: one.number } };
}

const REVIEW_STATES: Readonly<Record<string, string>> = {
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
  COMMENT: 'COMMENTED',
};

function review(
  one: GithubPullRequest,
  { event, body, commit_id }: Record<string, unknown>,
  found: Found,
): TestResponse {
  const state = REVIEW_STATES[String(event)];
  const { login, origin } = found.forge;
  if (state === undefined) return refuse(422, 'Unprocessable Entity');
  if (commit_id !== one.headRefOid) return refuse(422, 'commit_id is not part of the pull request');
  if (one.author === login && event === 'APPROVE') return refuse(422, 'Can not approve your own pull request');
  if (one.author === login && event !== 'COMMENT')
    return refuse(422, 'Can not request changes on your own pull request');
  if (event !== 'APPROVE' && typeof body !== 'string') return refuse(422, 'Body is required');
  const submittedAt = '2026-05-03T08:00:00Z';
  one.submitted.push({ author: login, state, submittedAt });
  const url = `${origin}/${found.repository.nameWithOwner}/pull/${one.number}`;
  return { body: { id: one.submitted.length, body: body ?? '', state, html_url: url, pull_request_url: url } };
}

function listRequested({ reviewers, team_reviewers }: Record<string, unknown>): string[] {
  return [...((reviewers ?? []) as string[]), ...((team_reviewers ?? []) as string[]).map((name) => `team:${name}`)];
}

function requestReviews(one: GithubPullRequest, body: Record<string, unknown>, found: Found): TestResponse {
  const asked = listRequested(body);
  if (asked.includes(one.author ?? '')) return refuse(422, 'Review cannot be requested from pull request author.');
  const unknown = asked.find((name) => !found.repository.collaborators.includes(name));
  if (unknown !== undefined) {
    const { nameWithOwner } = found.repository;
    return refuse(
      422,
      `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${nameWithOwner} repository.`,
    );
  }
  one.requested = [...new Set([...one.requested, ...asked])];
  return { status: 201, body: toListedPullRequest(one, found.repository, found.forge) };
}

function cancelRequests(one: GithubPullRequest, body: Record<string, unknown>, found: Found): TestResponse {
  const removed = listRequested(body);
  one.requested = one.requested.filter((name) => !removed.includes(name));
  return { body: toListedPullRequest(one, found.repository, found.forge) };
}
