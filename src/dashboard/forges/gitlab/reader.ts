import type { Forge, RepositorySnapshot } from '../forge.js';
import { type ConnectionPage, fetchRemainingPages } from '../http/graphql-pages.js';
import {
  mapRepositories,
  mapValid,
  MAX_ISSUES,
  MAX_PULL_REQUESTS,
  MAX_REPOSITORIES,
  readRepositories,
  uniqueByNumber,
} from '../read-repositories.js';
import { createHistoryReader } from './history.js';
import { belongsOnBoard, toForgeIssue, toForgePullRequest, toRepository } from './parse.js';
import {
  DISCOVER,
  type IssueNode,
  type MergeRequestNode,
  MORE_ISSUES,
  MORE_MERGE_REQUESTS,
  type ProjectNode,
  READ_PROJECT,
  type WholeProjectNode,
} from './queries.js';
import type { GitlabRequests } from './requests.js';

interface DiscoverData {
  readonly projects: ConnectionPage<ProjectNode>;
}

type More = Pick<WholeProjectNode, 'issues' | 'mergeRequests'>;

const NOTHING = { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

export function createGitlabReader(
  requests: GitlabRequests,
): Pick<Forge, 'discover' | 'read' | 'readHistory' | 'readRepository'> {
  /** Sends a query about one project. The caller chooses the result type that belongs to its query. */
  async function readProject<T>(
    query: string,
    variables: { path: string } & Record<string, unknown>,
  ): Promise<T | null> {
    return ((await requests.graphql(query, variables)) as { readonly project: T | null }).project;
  }

  async function readWhole(path: string): Promise<RepositorySnapshot | undefined> {
    const node = await readProject<WholeProjectNode>(READ_PROJECT, { path });
    if (node === null || !belongsOnBoard(node)) return undefined;
    const { fullPath } = node;
    const readMergeRequests = async (mergeRequestsAfter: string): Promise<ConnectionPage<MergeRequestNode>> =>
      (await readProject<More>(MORE_MERGE_REQUESTS, { path: fullPath, mergeRequestsAfter }))?.mergeRequests ?? NOTHING;
    const readIssues = async (issuesAfter: string): Promise<ConnectionPage<IssueNode>> =>
      (await readProject<More>(MORE_ISSUES, { path: fullPath, issuesAfter }))?.issues ?? NOTHING;
    const mergeRequests = await fetchRemainingPages(
      node.mergeRequests ?? NOTHING,
      MAX_PULL_REQUESTS,
      readMergeRequests,
    );
    const issues = await fetchRemainingPages(node.issues ?? NOTHING, MAX_ISSUES, readIssues);
    const rows = await mapValid(mergeRequests.nodes, (one) => toForgePullRequest(one, fullPath));
    const issueRows = await mapValid(issues.nodes.slice(0, MAX_ISSUES), (one) => toForgeIssue(one, fullPath));
    return {
      repository: toRepository(node),
      pullRequests: uniqueByNumber(rows.mapped),
      issues: uniqueByNumber(issueRows.mapped),
      incomplete: rows.odd,
    };
  }

  return {
    async discover() {
      const readPage = async (after: string | null): Promise<ConnectionPage<ProjectNode>> =>
        ((await requests.graphql(DISCOVER, { after })) as DiscoverData).projects;
      const { nodes } = await fetchRemainingPages(await readPage(null), MAX_REPOSITORIES, readPage);
      return mapRepositories(nodes, (node) => (belongsOnBoard(node) ? [toRepository(node)] : []));
    },
    read: (repositories) => readRepositories(repositories, ({ fullName }) => readWhole(fullName)),
    readHistory: createHistoryReader(requests),
    readRepository: readWhole,
  };
}
