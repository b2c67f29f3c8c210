import {
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  readRepositories,
  uniqueByNumber,
} from '../forge-snapshot.js';
import type { ForgeRepository, ForgePullRequest, RepositorySnapshot } from '../model.js';
import { undefinedIfNotFound } from '../forge-error.js';
import type { Forge } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { toRepositoryPath } from '../repository-path.js';
import { mapRepositories, mapValid } from '../sanitize.js';
import { toForgeIssue } from '../rest-issues.js';
import { ciFromCheckRuns } from './ci.js';
import { belongsOnBoard, toForgePullRequest, toRepository } from './anonymous-parse.js';
import type {
  SearchResultNode,
  PublicCheckRunNode,
  PublicIssueNode,
  PublicPullRequestNode,
  PublicRepositoryNode,
} from './anonymous-nodes.js';

/** GitHub's limit for the results of a search. */
const MAX_FOUND = 1_000;

/** The most check runs that are read of one commit. */
const MAX_RUNS = 300;

/**
 * Creates a reader for the public repositories of a user. GitHub allows 60 requests an hour per IP address, and without
 * a credential unchanged responses (304) count too. So the reader skips repositories without open items, and detects
 * changes with searches, which have a separate quota.
 */
export function createAnonymousReader(
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

export async function readCheckRuns(rest: RestClient, fullName: string, sha: string): Promise<PublicCheckRunNode[]> {
  const path = `${toRepositoryPath(fullName)}/commits/${encodeURIComponent(sha)}/check-runs?per_page=100`;
  return rest.list<PublicCheckRunNode>(path, MAX_RUNS, 'check_runs');
}
