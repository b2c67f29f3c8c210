import { MAX_ISSUES, MAX_PULL_REQUESTS, MAX_REPOSITORIES, readEach, unique } from '../bounded.js';
import type { ForgeRepository, PullRequestFacts, RepositoryReading } from '../facts.js';
import { orGone } from '../forge-error.js';
import type { Forge } from '../forge.js';
import type { Rest } from '../http/rest.js';
import { pathOf } from '../paths.js';
import { mapListed, mapSound } from '../sound.js';
import { toIssueFacts } from '../rest-issues.js';
import { judgeCheckRuns } from './ci.js';
import { isFollowed, toPullRequestFacts, toRepository } from './public-facts.js';
import type {
  FoundNode,
  PublicCheckRunNode,
  PublicIssueNode,
  PublicPullRequestNode,
  PublicRepositoryNode,
} from './public-nodes.js';

/** GitHub's limit for the results of a search. */
const MAX_FOUND = 1_000;

/** The most check runs that are read of one commit. */
const MAX_RUNS = 300;

/**
 * Creates a reader for the public repositories of a user. GitHub allows 60 requests an hour per IP address, and without
 * a credential unchanged responses (304) count too. So the reader skips repositories without open items, and detects
 * changes with searches, which have a separate quota.
 */
export function createPublicReader(rest: Rest, username: string): Pick<Forge, 'discover' | 'read' | 'readRepository'> {
  /** Repositories that had no open items at the last discovery, by name. */
  let idle: ReadonlyMap<string, ForgeRepository> = new Map();

  async function search(kind: 'issue' | 'pr'): Promise<FoundNode[]> {
    const query = encodeURIComponent(`user:${username} is:open is:${kind}`);
    return rest.list<FoundNode>(`/search/issues?q=${query}&sort=updated&per_page=100`, MAX_FOUND, 'items');
  }

  async function readFacts(repo: string, node: PublicPullRequestNode): Promise<PullRequestFacts> {
    const runs = await readCheckRuns(rest, repo, node.head.sha).catch(orGone);
    return toPullRequestFacts(node, { repo, ci: runs && judgeCheckRuns(runs) });
  }

  async function readOpen(fullName: string): Promise<PublicIssueNode[] | undefined> {
    const path = `${pathOf(fullName)}/issues?state=open&per_page=100`;
    return rest.list<PublicIssueNode>(path, MAX_ISSUES + MAX_PULL_REQUESTS).catch(orGone);
  }

  async function readPulls(fullName: string): Promise<PublicPullRequestNode[] | undefined> {
    const path = `${pathOf(fullName)}/pulls?state=open&per_page=100`;
    return rest.list<PublicPullRequestNode>(path, MAX_PULL_REQUESTS + 1).catch(orGone);
  }

  async function readWhole(repository: ForgeRepository, open: readonly PublicIssueNode[]): Promise<RepositoryReading> {
    const { fullName } = repository;
    const issues = open.filter(({ pull_request }) => pull_request === undefined).slice(0, MAX_ISSUES);
    const hasPulls = open.some(({ pull_request }) => pull_request !== undefined);
    const pulls = hasPulls ? await readPulls(fullName) : [];
    const rows = await mapSound(pulls ?? [], (node) => readFacts(fullName, node));
    const issueRows = await mapSound(issues, (node) => toIssueFacts(node, fullName));
    return {
      repository,
      pullRequests: unique(rows.mapped),
      issues: unique(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  async function readKnown(repository: ForgeRepository): Promise<RepositoryReading | undefined> {
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
      const nodes = await mapListed(listed, (node) => (isFollowed(node) ? [node] : []));
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
    read: (repositories) => readEach(repositories, readKnown),
    async readRepository(fullName) {
      const node = (await rest.get(pathOf(fullName)).catch(orGone)) as PublicRepositoryNode | undefined;
      if (node === undefined || !isFollowed(node)) return undefined;
      const open = await readOpen(node.full_name);
      return open && readWhole(toRepository(node, open), open);
    },
  };
}

/** Skips invalid search results, as they only serve to detect changes. */
function isFound(node: { readonly repository_url?: unknown } | null): boolean {
  return typeof node?.repository_url === 'string';
}

export async function readCheckRuns(rest: Rest, fullName: string, sha: string): Promise<PublicCheckRunNode[]> {
  const path = `${pathOf(fullName)}/commits/${encodeURIComponent(sha)}/check-runs?per_page=100`;
  return rest.list<PublicCheckRunNode>(path, MAX_RUNS, 'check_runs');
}
