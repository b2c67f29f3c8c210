import type { TestResponse, RecordedRequest } from './forge-server.js';
import type { GithubIssue, GithubPullRequest, GithubRepository, GithubRun } from './github-state.js';
import { toPage } from './paged.js';

/** The state that the public REST operations of the test GitHub read. */
export interface PublicState {
  readonly url: string;
  readonly origin: string;
  readonly repositories: readonly GithubRepository[];
}

/** The state that a user's token reads. */
export interface UserState extends PublicState {
  readonly login: string;
  readonly hiddenOrganizations: readonly string[];
  readonly repeatsPages: boolean;
  /** The latest updates of pull requests and issues. @see createUpdates */
  readonly updates: Updates;
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

/**
 * Lists the issues and pull requests of the repositories of a user, by default those that are assigned to the user.
 * GitHub names the organizations that it leaves out in a header.
 */
export function listOwnIssues({ seen, forge }: Asked<UserState>): TestResponse {
  const { query } = seen;
  const { login, hiddenOrganizations } = forge;
  const [filter, state, since] = [query.get('filter') ?? 'assigned', query.get('state') ?? 'open', query.get('since')];
  const own = forge.repositories.filter(
    ({ affiliation, nameWithOwner }) => affiliation !== 'NONE' || nameWithOwner.startsWith(`${login}/`),
  );
  const [hidden, visible] = [true, false].map((isHidden) =>
    own.filter(
      ({ nameWithOwner }) => isHidden === hiddenOrganizations.some((name) => nameWithOwner.startsWith(`${name}/`)),
    ),
  );
  const items = (visible ?? []).flatMap((repository) => {
    const all = [...repository.issues, ...repository.pullRequests].map((one) => ({
      one,
      node: { ...toIssueNode(one, repository, forge), updated_at: forge.updates.timeOf(one) },
    }));
    return all.filter(({ one }) => {
      const isFiltered = filter === 'all' || ('assignees' in one && one.assignees.includes(login));
      const isListed = state === 'all' || (state === 'open') === isOpen(one);
      return isFiltered && isListed && (since === null || Date.parse(forge.updates.timeOf(one)) >= Date.parse(since));
    });
  });
  const nodes = items.map(({ node }) => node);
  const listed = toPage(nodes, seen, { url: forge.url, size: 'per_page', repeatsPages: forge.repeatsPages });
  if (hidden?.length === 0) return listed;
  return { ...listed, headers: { ...listed.headers, 'X-GitHub-SSO': 'partial-results; organizations=21955855' } };
}

export interface Updates {
  /** Notices the changes since the last call, at a time in milliseconds. */
  note(repositories: readonly GithubRepository[], at: number): void;
  /** Returns when a pull request or issue was last updated. */
  timeOf(one: GithubIssue | GithubPullRequest): string;
}

/**
 * Tests change the state without its update time, or to a time in the past. At GitHub, every change has the current
 * time, so this finds the changes and dates them. Checks, mergeability and rules of branches do not
 * count.
 */
export function createUpdates(): Updates {
  const known = new WeakMap<GithubIssue | GithubPullRequest, { readonly text: string; readonly at: string }>();
  let isFirst = true;
  const toText = (one: GithubIssue | GithubPullRequest): string =>
    JSON.stringify({ ...one, checks: 0, mergeable: 0, mergeStateStatus: 0, reviewDecision: 0 });
  return {
    note(repositories, at) {
      const now = new Date(at).toISOString();
      for (const one of repositories.flatMap(({ issues, pullRequests }) => [...issues, ...pullRequests])) {
        const text = toText(one);
        if (known.get(one)?.text !== text) known.set(one, { text, at: isFirst ? one.updatedAt : now });
      }
      isFirst = false;
    },
    timeOf: (one) => [known.get(one)?.at ?? '', one.updatedAt].sort().at(-1) ?? '',
  };
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
    state: isOpen(one) ? 'open' : 'closed',
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
