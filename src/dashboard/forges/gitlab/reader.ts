import { MAX_ISSUES, MAX_PULL_REQUESTS, MAX_REPOSITORIES, readEach, unique } from '../bounded.js';
import type { RepositoryReading } from '../facts.js';
import type { Forge } from '../forge.js';
import { readRest } from '../http/connections.js';
import type { Page } from '../http/connections.js';
import { mapListed, mapSound } from '../sound.js';
import type { IssueNode, MergeRequestNode, ProjectNode, WholeProjectNode } from './nodes.js';
import { DISCOVER, MORE_ISSUES, MORE_MERGE_REQUESTS, READ_PROJECT } from './queries.js';
import type { GitlabRequests } from './requests.js';
import { isFollowed, toIssueFacts, toPullRequestFacts, toRepository } from './to-facts.js';

interface DiscoverData {
  readonly projects: Page<ProjectNode>;
}

type More = Pick<WholeProjectNode, 'issues' | 'mergeRequests'>;

const NOTHING = { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

export function createGitlabReader(requests: GitlabRequests): Pick<Forge, 'discover' | 'read' | 'readRepository'> {
  /** Sends a query about one project. The caller chooses the result type that belongs to its query. */
  async function readProject<T>(
    query: string,
    variables: { path: string } & Record<string, unknown>,
  ): Promise<T | null> {
    return ((await requests.graphql(query, variables)) as { readonly project: T | null }).project;
  }

  async function readWhole(path: string): Promise<RepositoryReading | undefined> {
    const node = await readProject<WholeProjectNode>(READ_PROJECT, { path });
    if (node === null || !isFollowed(node)) return undefined;
    const { fullPath } = node;
    const readMergeRequests = async (mergeRequestsAfter: string): Promise<Page<MergeRequestNode>> =>
      (await readProject<More>(MORE_MERGE_REQUESTS, { path: fullPath, mergeRequestsAfter }))?.mergeRequests ?? NOTHING;
    const readIssues = async (issuesAfter: string): Promise<Page<IssueNode>> =>
      (await readProject<More>(MORE_ISSUES, { path: fullPath, issuesAfter }))?.issues ?? NOTHING;
    const mergeRequests = await readRest(node.mergeRequests ?? NOTHING, MAX_PULL_REQUESTS, readMergeRequests);
    const issues = await readRest(node.issues ?? NOTHING, MAX_ISSUES, readIssues);
    const rows = await mapSound(mergeRequests.nodes, (one) => toPullRequestFacts(one, fullPath));
    const issueRows = await mapSound(issues.nodes.slice(0, MAX_ISSUES), (one) => toIssueFacts(one, fullPath));
    return {
      repository: toRepository(node),
      pullRequests: unique(rows.mapped),
      issues: unique(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  return {
    async discover() {
      const readPage = async (after: string | null): Promise<Page<ProjectNode>> =>
        ((await requests.graphql(DISCOVER, { after })) as DiscoverData).projects;
      const { nodes } = await readRest(await readPage(null), MAX_REPOSITORIES, readPage);
      return mapListed(nodes, (node) => (isFollowed(node) ? [toRepository(node)] : []));
    },
    read: (repositories) => readEach(repositories, ({ fullName }) => readWhole(fullName)),
    readRepository: readWhole,
  };
}
