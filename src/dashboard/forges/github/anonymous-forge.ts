import { ForgeError, undefinedIfNotFound } from '../forge-error.js';
import {
  type Check,
  type CiStatus,
  type Forge,
  type ForgePullRequest,
  type ForgeRepository,
  type PullRequestDetails,
  type PullRequestTarget,
  type RepositorySnapshot,
  toCiFields,
} from '../forge.js';
import { createForgeRequests, type ForgeRequestsOptions, createRestClient, type RestClient } from '../http/requests.js';
import {
  mapRepositories,
  mapValid,
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  readRepositories,
  type RestIssueNode,
  toForgeIssue,
  toRepositoryPath,
  toRevision,
  uniqueByNumber,
  readPullRequestState,
} from '../read-repositories.js';
import { withForgeErrors } from '../sanitize.js';
import { ciFromCheckRuns, toRunState, toSeconds } from './checks.js';
import { GITHUB_API, toGithubProtocol, toGithubWebUrl } from './requests.js';

interface AnonymousForgeOptions extends ForgeRequestsOptions {
  readonly baseUrl?: string;
  /** The owner of the public repositories. */
  readonly username: string;
}

const TOKEN_PERMISSION = {
  permission: 'a token',
  purpose: 'to read reviews and private repositories and act on pull requests',
};

/** Creates a read-only client for GitHub that sends requests without a credential. */
export function createAnonymousGithubForge({
  baseUrl = GITHUB_API,
  username,
  ...options
}: AnonymousForgeOptions): Forge {
  const requests = createForgeRequests(toGithubProtocol(), options);
  const rest = createRestClient(requests, baseUrl);
  const reader = createAnonymousReader(rest, username);
  const forge: Forge = {
    name: 'github',
    actions: [],
    quotas: requests.budgets,
    ...reader,
    inspect: async () => ({ repositories: await reader.discover(), missing: [TOKEN_PERMISSION] }),
    readState: (target) => readPullRequestState(rest, target),
    checks: (target) => readPublicChecks(rest, target),
    details: (target) => readPublicDetails(rest, target),
    act: rejectWithoutToken,
    ensureWebhook: rejectWithoutToken,
  };
  return withForgeErrors(forge, toGithubWebUrl(baseUrl));
}

async function readPublicChecks(rest: RestClient, { fullName, number }: PullRequestTarget): Promise<Check[]> {
  const { head } = (await rest.get(`${toRepositoryPath(fullName)}/pulls/${number}`)) as PublicPullRequestNode;
  return (await readCheckRuns(rest, fullName, head.sha)).map(toCheck);
}

/** Reads the size with one request: the REST API does not report which threads are resolved. */
async function readPublicDetails(
  rest: RestClient,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestDetails> {
  const node = (await rest.get(`${toRepositoryPath(fullName)}/pulls/${number}`)) as PublicPullRequestNode;
  const { additions, deletions, changed_files, commits } = node;
  return {
    ...(additions !== undefined && { additions }),
    ...(deletions !== undefined && { deletions }),
    ...(changed_files !== undefined && { changedFiles: changed_files }),
    ...(commits !== undefined && { commits }),
    ...{ reviews: [], threads: [], comments: [] },
  };
}

function toCheck(node: PublicCheckRunNode): Check {
  const { name, html_url, details_url, status, conclusion, started_at, completed_at } = node;
  const durationSeconds = toSeconds(started_at, completed_at);
  const duration = durationSeconds === undefined ? {} : { durationSeconds };
  const state = toRunState(status.toUpperCase(), conclusion?.toUpperCase());
  return { name, url: details_url ?? html_url ?? '', state, ...duration };
}

async function rejectWithoutToken(): Promise<never> {
  const needs = "a GitHub token in the settings, or an installation of this server's GitHub App";
  return Promise.reject(new ForgeError('unauthorized', { refusal: 'permission', needs }));
}

/** GitHub's limit for the results of a search. */
const MAX_FOUND = 1_000;

/** The most check runs that are read of one commit. */
const MAX_RUNS = 300;

/**
 * Creates a reader for the public repositories of a user. GitHub allows 60 requests an hour per IP address, and without
 * a credential unchanged responses (304) count too. So the reader skips repositories without open items, and detects
 * changes with searches, which have a separate quota.
 */
function createAnonymousReader(
  rest: RestClient,
  username: string,
): Pick<Forge, 'discover' | 'read' | 'readRepository'> {
  /** Repositories that had no open items at the last discovery, by name. */
  let idle: ReadonlyMap<string, ForgeRepository> = new Map();

  async function search(kind: 'issue' | 'pr'): Promise<SearchResultNode[]> {
    const query = encodeURIComponent(`user:${username} is:open is:${kind}`);
    return rest.list<SearchResultNode>(`/search/issues?q=${query}&sort=updated&per_page=100`, MAX_FOUND, 'items');
  }

  async function readFacts(repo: string, node: PublicPullRequestNode): Promise<ForgePullRequest> {
    const runs = await readCheckRuns(rest, repo, node.head.sha).catch(undefinedIfNotFound);
    return toForgePullRequest(node, { repo, ci: runs && ciFromCheckRuns(runs) });
  }

  async function readOpen(fullName: string): Promise<PublicIssueNode[] | undefined> {
    const path = `${toRepositoryPath(fullName)}/issues?state=open&per_page=100`;
    return rest.list<PublicIssueNode>(path, MAX_ISSUES + MAX_PULL_REQUESTS).catch(undefinedIfNotFound);
  }

  async function readPulls(fullName: string): Promise<PublicPullRequestNode[] | undefined> {
    const path = `${toRepositoryPath(fullName)}/pulls?state=open&per_page=100`;
    return rest.list<PublicPullRequestNode>(path, MAX_PULL_REQUESTS + 1).catch(undefinedIfNotFound);
  }

  async function readWhole(repository: ForgeRepository, open: readonly PublicIssueNode[]): Promise<RepositorySnapshot> {
    const { fullName } = repository;
    const issues = open.filter(({ pull_request }) => pull_request === undefined).slice(0, MAX_ISSUES);
    const hasPulls = open.some(({ pull_request }) => pull_request !== undefined);
    const pulls = hasPulls ? await readPulls(fullName) : [];
    const rows = await mapValid(pulls ?? [], (node) => readFacts(fullName, node));
    const issueRows = await mapValid(issues, (node) => toForgeIssue(node, fullName));
    return {
      repository,
      pullRequests: uniqueByNumber(rows.mapped),
      issues: uniqueByNumber(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  async function readKnown(repository: ForgeRepository): Promise<RepositorySnapshot | undefined> {
    if (idle.get(repository.fullName)?.revision === repository.revision) {
      return { repository, pullRequests: [], issues: [] };
    }
    const open = await readOpen(repository.fullName);
    return open && readWhole(repository, open);
  }

  return {
    async discover() {
      const path = `/users/${encodeURIComponent(username)}/repos?type=owner&sort=full_name&per_page=100`;
      const listed = await rest.list<PublicRepositoryNode>(path, MAX_REPOSITORIES);
      const nodes = await mapRepositories(listed, (node) => (belongsOnBoard(node) ? [node] : []));
      const isIdle = nodes.every(({ open_issues_count }) => open_issues_count === 0);
      const open = isIdle ? [] : [...(await search('pr')), ...(await search('issue'))].filter(isFound);
      const found = nodes.map((node) => {
        const ending = `/repos/${node.full_name}`;
        const of = open.filter(({ repository_url }) => repository_url.endsWith(ending));
        return { node, repository: toRepository(node, of) };
      });
      const none = found.filter(({ node }) => node.open_issues_count === 0);
      idle = new Map(none.map(({ repository }) => [repository.fullName, repository]));
      return found.map(({ repository }) => repository);
    },
    read: (repositories) => readRepositories(repositories, readKnown),
    async readRepository(fullName) {
      const node = (await rest.get(toRepositoryPath(fullName)).catch(undefinedIfNotFound)) as
        PublicRepositoryNode | undefined;
      if (node === undefined || !belongsOnBoard(node)) return undefined;
      const open = await readOpen(node.full_name);
      return open && readWhole(toRepository(node, open), open);
    },
  };
}

/** Skips invalid search results, as they only serve to detect changes. */
function isFound(node: { readonly repository_url?: unknown } | null): boolean {
  return typeof node?.repository_url === 'string';
}

async function readCheckRuns(rest: RestClient, fullName: string, sha: string): Promise<PublicCheckRunNode[]> {
  const path = `${toRepositoryPath(fullName)}/commits/${encodeURIComponent(sha)}/check-runs?per_page=100`;
  return rest.list<PublicCheckRunNode>(path, MAX_RUNS, 'check_runs');
}

/** Reports whether a repository belongs on a board, which omits forks and archived repositories. */
function belongsOnBoard({ archived, fork }: PublicRepositoryNode): boolean {
  return !archived && !fork;
}

/** Converts a repository. @param open Its open issues and pull requests; any change to them changes the revision. */
function toRepository(
  node: PublicRepositoryNode,
  open: readonly Pick<PublicIssueNode, 'number' | 'updated_at'>[],
): ForgeRepository {
  const { node_id: id, full_name: fullName, html_url: url, pushed_at } = node;
  return { id, fullName, url, canManageWebhooks: false, revision: toRevision([fullName, pushed_at], open) };
}

/** Converts a pull request. Leaves mergeability and reviews unknown, as each would cost another request. */
function toForgePullRequest(
  node: PublicPullRequestNode,
  { repo, ci }: { readonly repo: string; readonly ci: CiStatus | undefined },
): ForgePullRequest {
  const { head, base, requested_reviewers } = node;
  return {
    ...toForgeIssue(node, repo),
    draft: node.draft === true,
    ...toCiFields(ci),
    mergeStatus: 'unknown',
    behind: false,
    headSha: head.sha,
    baseBranch: base.ref,
    headBranch: head.ref,
    crossRepository: head.repo?.full_name !== base.repo?.full_name,
    requestedReviewerLogins: (requested_reviewers ?? []).map(({ login }) => login),
    empty: false,
    autoMergeEnabled: node.auto_merge !== null,
  };
}

// The responses of GitHub's REST API to requests without a credential.

interface PublicRepositoryNode {
  readonly node_id: string;
  readonly full_name: string;
  readonly html_url: string;
  readonly archived: boolean;
  readonly fork: boolean;
  readonly pushed_at: string | null;
  /** Counts issues and pull requests. */
  readonly open_issues_count: number;
}

/** An issue or pull request. Only pull requests have `pull_request`. */
interface PublicIssueNode extends RestIssueNode {
  readonly pull_request?: object;
}

/** An issue or pull request in a search result. */
interface SearchResultNode extends PublicIssueNode {
  readonly repository_url: string;
}

interface BranchNode {
  readonly ref: string;
  readonly sha: string;
  /** Null for a deleted repository. */
  readonly repo: { readonly full_name: string } | null;
}

interface PublicPullRequestNode extends RestIssueNode {
  readonly draft?: boolean;
  readonly head: BranchNode;
  readonly base: BranchNode;
  readonly requested_reviewers: readonly { readonly login: string }[] | null;
  readonly auto_merge: object | null;
  readonly additions?: number;
  readonly deletions?: number;
  readonly changed_files?: number;
  readonly commits?: number;
}

interface PublicCheckRunNode {
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly html_url: string | null;
  readonly details_url: string | null;
}
