import { MAX_REPOSITORIES } from '../forge-snapshot.js';
import { withoutNulls, fetchRemainingPages } from '../http/connections.js';
import type { ConnectionPage } from '../http/connections.js';
import type { Installation } from './app.js';
import type { RepositoryNode } from './nodes.js';
import { DISCOVER, READ_SUMMARIES } from './queries.js';
import type { GithubRequests } from './requests.js';

/** Sends a GraphQL query. The caller chooses the result type that belongs to its query. */
export type GraphqlQuery = <T>(text: string, variables: Record<string, unknown>) => Promise<T>;

/** The repositories that a credential has access to, and its permissions there. */
export interface RepositoryAccess {
  discover(query: GraphqlQuery): Promise<RepositoryNode[]>;
  canWrite(node: RepositoryNode): boolean;
  canManageWebhooks(node: RepositoryNode): boolean;
}

const MAY_WRITE = new Set(['ADMIN', 'MAINTAIN', 'WRITE']);

interface Found {
  readonly viewer: { readonly repositories: ConnectionPage<RepositoryNode> };
}

/** The access of a user's token. */
export const USER_ACCESS: RepositoryAccess = {
  async discover(query) {
    const readPage = async (after: string | null): Promise<ConnectionPage<RepositoryNode>> =>
      (await query<Found>(DISCOVER, { after })).viewer.repositories;
    return (await fetchRemainingPages(await readPage(null), MAX_REPOSITORIES, readPage)).nodes;
  },
  canWrite: ({ viewerPermission }) => MAY_WRITE.has(viewerPermission ?? ''),
  canManageWebhooks: ({ viewerPermission }) => viewerPermission === 'ADMIN',
};

/** GraphQL's limit, which equals the page size of REST. */
const IDS_PER_QUERY = 100;

/** Returns the access of an App: the repositories of an installation, with the same permissions for all of them. */
export function toRepositoryAccess(
  installation: Installation,
  { list }: Pick<GithubRequests, 'list'>,
): RepositoryAccess {
  return {
    async discover(query) {
      const path = '/installation/repositories?per_page=100';
      const found = await list<{ readonly node_id: string }>(path, MAX_REPOSITORIES, 'repositories');
      const nodes: RepositoryNode[] = [];
      for (let start = 0; start < found.length; start += IDS_PER_QUERY) {
        const ids = found.slice(start, start + IDS_PER_QUERY).map(({ node_id }) => node_id);
        nodes.push(
          ...withoutNulls((await query<{ nodes: readonly (RepositoryNode | null)[] }>(READ_SUMMARIES, { ids })).nodes),
        );
      }
      return nodes;
    },
    canWrite: () => true,
    canManageWebhooks: () => installation.hasWriteAccess('repository_hooks'),
  };
}
