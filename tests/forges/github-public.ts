import type { TestResponse, RecordedRequest } from './forge-server.js';
import type { GithubIssue, GithubPullRequest, GithubRepository, GithubRun } from './github-state.js';
import { toPage } from './paged.js';

/** The state that the public REST operations of the test GitHub read. */
export interface PublicState {
  readonly url: string;
  readonly origin: string;
  readonly repositories: readonly GithubRepository[];
}

const isOpen = ({ state }: { readonly state: string }) => state === 'OPEN';

export function toRepositoryNode(repository: GithubRepository, { origin }: PublicState) {
  const { id, nameWithOwner, isArchived, isFork, isPrivate, pushedAt, pullRequests, issues } = repository;
  const { viewerPermission } = repository;
  const admin = viewerPermission === 'ADMIN';
  const push = admin || viewerPermission === 'WRITE';
  return {
    node_id: id,
    full_name: nameWithOwner,
    html_url: `${origin}/${nameWithOwner}`,
    private: isPrivate,
    archived: isArchived,
    fork: isFork,
    pushed_at: pushedAt,
    open_issues_count: [...pullRequests, ...issues].filter(isOpen).length,
    permissions: { admin, push, pull: true },
  };
}

interface Asked<State extends PublicState = PublicState> {
  readonly seen: RecordedRequest;
  readonly forge: State;
}

export function listRepositories({ seen, forge }: Asked, login: string): TestResponse {
  const own = forge.repositories.filter(({ nameWithOwner, isPrivate }) => {
    return nameWithOwner.startsWith(`${login}/`) && !isPrivate;
  });
  if (own.length === 0) return { status: 404, body: { message: 'Not Found' } };
  return page(
    own.map((one) => toRepositoryNode(one, forge)),
    { seen, forge },
  );
}

/** Evaluates search queries such as `user:mona is:open is:pr`. */
export function searchIssues({ seen, forge }: Asked): TestResponse {
  const query = seen.query.get('q') ?? '';
  const [, login = ''] = /user:(\S+)/.exec(query) ?? [];
  const found = forge.repositories.filter((one) => one.nameWithOwner.startsWith(`${login}/`) && !one.isPrivate);
  const items = found.flatMap((repository) => {
    const kind = query.includes('is:pr') ? repository.pullRequests : repository.issues;
    return kind.filter(isOpen).map((one) => toIssueNode(one, repository, forge));
  });
  const { body, ...answer } = page(items, { seen, forge });
  return { ...answer, body: { total_count: items.length, incomplete_results: false, items: body } };
}

export interface AskedOf extends Asked {
  readonly repository: GithubRepository;
}

/** Lists issues, which include pull requests. */
export function listIssues({ repository, ...asked }: AskedOf): TestResponse {
  const all = [...repository.issues, ...repository.pullRequests].filter(isOpen);
  return page(
    all.map((one) => toIssueNode(one, repository, asked.forge)),
    asked,
  );
}

export function listPullRequests({ repository, ...asked }: AskedOf): TestResponse {
  const open = repository.pullRequests.filter(isOpen);
  return page(
    open.map((one) => toListedPullRequest(one, repository, asked.forge)),
    asked,
  );
}

export function listCheckRuns({ repository, ...asked }: AskedOf, sha: string): TestResponse {
  const found = repository.pullRequests.find(({ headRefOid }) => headRefOid === sha);
  if (!found) return { status: 422, body: { message: `No commit found for SHA: ${sha}` } };
  const runs = found.checks.filter((check) => check.kind === 'run').map(toRunNode);
  const { body, ...answer } = page(runs, asked);
  return { ...answer, body: { total_count: runs.length, check_runs: body } };
}

function page(items: readonly unknown[], { seen, forge }: Asked): TestResponse {
  return toPage(items, seen, { url: forge.url, size: 'per_page' });
}

function toIssueNode(one: GithubIssue | GithubPullRequest, repository: GithubRepository, forge: PublicState) {
  const isPull = 'headRefOid' in one;
  return {
    ...toCommonNode(one, repository, forge),
    repository_url: `${forge.url}/repos/${repository.nameWithOwner}`,
    state: 'open',
    ...(isPull && { pull_request: { merged_at: null } }),
  };
}

/** Returns the members that issues and pull requests share. */
function toCommonNode(
  one: GithubIssue | GithubPullRequest,
  { nameWithOwner }: GithubRepository,
  { origin }: PublicState,
) {
  const { number, title, author, labels, createdAt, updatedAt } = one;
  return {
    number,
    title,
    html_url: `${origin}/${nameWithOwner}/${'headRefOid' in one ? 'pull' : 'issues'}/${number}`,
    user: author === null ? null : { login: author },
    labels,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** Returns a pull request as it is read alone. Lists do not have the state of the merge. */
export function toPullRequestNode(one: GithubPullRequest, repository: GithubRepository, forge: PublicState) {
  return { ...toListedPullRequest(one, repository, forge), merged: one.state === 'MERGED' };
}

/** Returns a pull request as lists have it, and requests for reviews. */
export function toListedPullRequest(one: GithubPullRequest, repository: GithubRepository, forge: PublicState) {
  const { isDraft, headRefName, headRefOid, baseRefName, isCrossRepository, requested, autoMerge } = one;
  const repo = { full_name: repository.nameWithOwner };
  return {
    ...toCommonNode(one, repository, forge),
    state: one.state === 'OPEN' ? 'open' : 'closed',
    draft: isDraft,
    head: { ref: headRefName, sha: headRefOid, repo: isCrossRepository ? null : repo },
    base: { ref: baseRefName, sha: 'b'.repeat(40), repo },
    requested_reviewers: requested.filter((login) => !login.startsWith('team:')).map((login) => ({ login })),
    requested_teams: [],
    auto_merge: autoMerge === null ? null : { merge_method: autoMerge.toLowerCase() },
  };
}

function toRunNode({ databaseId: id, name, status, conclusion }: GithubRun) {
  return {
    id,
    name,
    status: status.toLowerCase(),
    conclusion: conclusion === null ? null : conclusion.toLowerCase(),
    started_at: status === 'QUEUED' ? null : '2026-05-02T08:00:00Z',
    completed_at: status === 'COMPLETED' ? '2026-05-02T08:01:30Z' : null,
    html_url: `https://github.com/runs/${id}`,
    details_url: `https://github.com/runs/${id}`,
  };
}
