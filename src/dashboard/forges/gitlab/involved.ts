import { mapWithConcurrency } from '@trellis/core/concurrency';
import type { ForgePullRequest, InvolvedOptions, InvolvedSnapshot } from '../forge.js';
import { type ConnectionPage, fetchRemainingPages } from '../http/graphql-pages.js';
import { type InvolvedSearch, readInvolvedPullRequests } from '../involved.js';
import { isInvalidResponse } from '../read-repositories.js';
import { toForgePullRequest } from './parse.js';
import { type FoundMergeRequestNode, type InvolvedProjectNode, READ_INVOLVED, SEARCHES } from './queries.js';
import type { GitlabRequests } from './requests.js';

/** The most results of one search that are used. */
const MAX_FOUND = 500;

type Listed = FoundMergeRequestNode & { readonly target?: FoundMergeRequestNode | null };
type Found = Required<{ [Key in keyof FoundMergeRequestNode]: NonNullable<FoundMergeRequestNode[Key]> }>;

interface Data {
  readonly currentUser: { readonly found: ConnectionPage<Listed> | null } | null;
}

const NOTHING = { pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] };

/** Finds the merge requests of the user, and reads those outside of the listed projects. @see Forge.readInvolved */
export async function readInvolvedMergeRequests(
  requests: Pick<GitlabRequests, 'graphql'>,
  listed: ReadonlySet<string>,
  options?: InvolvedOptions,
): Promise<InvolvedSnapshot> {
  async function search(query: string): Promise<InvolvedSearch<Found>> {
    const readPage = async (after: string | null): Promise<ConnectionPage<Listed>> =>
      ((await requests.graphql(query, { after })) as Data).currentUser?.found ?? NOTHING;
    const { nodes } = await fetchRemainingPages(await readPage(null), MAX_FOUND, readPage);
    const found = nodes.map((node) => node.target ?? node).filter(isFound);
    return { found: found.slice(0, MAX_FOUND), truncated: nodes.length > MAX_FOUND };
  }

  async function readOne({ iid, project: { fullPath } }: Found): Promise<ForgePullRequest | 'unread' | undefined> {
    try {
      const data = await requests.graphql(READ_INVOLVED, { path: fullPath, iid });
      const { project } = data as { readonly project: InvolvedProjectNode | null };
      // To-do items outlive their merge requests.
      if (project?.mergeRequest?.state !== 'opened') return undefined;
      const row = toForgePullRequest(project.mergeRequest, fullPath);
      return project.userPermissions.pushCode ? row : { ...row, readOnly: true };
    } catch (error) {
      if (isInvalidResponse(error)) return 'unread';
      throw error;
    }
  }

  return readInvolvedPullRequests(
    {
      search: (involvement) => search(SEARCHES[involvement]),
      keyOf: ({ iid, project }) => `${project.id} ${iid}`,
      repositoryOf: ({ project: { id, fullPath, webUrl } }) => ({ id, fullName: fullPath, url: webUrl }),
      read: (found) => mapWithConcurrency(found, readOne),
    },
    listed,
    options,
  );
}

const isFound = (node: FoundMergeRequestNode): node is Found => node.iid !== undefined && node.project != null;
