import { MAX_REPOSITORIES } from '../bounded.js';
import { compact, readRest } from '../http/connections.js';
import type { Page } from '../http/connections.js';
import type { Installation } from './app.js';
import type { RepositoryNode } from './nodes.js';
import { DISCOVER, READ_HEADS } from './queries.js';
import type { GithubRequests } from './requests.js';

/** Sends a GraphQL query. The caller chooses the result type that belongs to its query. */
export type Query = <T>(text: string, variables: Record<string, unknown>) => Promise<T>;

/** The repositories that a credential has access to, and its permissions there. */
export interface Reach {
  discover(query: Query): Promise<RepositoryNode[]>;
  mayWrite(node: RepositoryNode): boolean;
  mayManageWebhooks(node: RepositoryNode): boolean;
}

const MAY_WRITE = new Set(['ADMIN', 'MAINTAIN', 'WRITE']);

interface Found {
  readonly viewer: { readonly repositories: Page<RepositoryNode> };
}

/** The access of a user's token. */
export const PERSONAL_REACH: Reach = {
  async discover(query) {
    const readPage = async (after: string | null): Promise<Page<RepositoryNode>> =>
      (await query<Found>(DISCOVER, { after })).viewer.repositories;
    return (await readRest(await readPage(null), MAX_REPOSITORIES, readPage)).nodes;
  },
  mayWrite: ({ viewerPermission }) => MAY_WRITE.has(viewerPermission ?? ''),
  mayManageWebhooks: ({ viewerPermission }) => viewerPermission === 'ADMIN',
};

/** GraphQL's limit, which equals the page size of REST. */
const IDS_PER_QUERY = 100;

/** Returns the access of an App: the repositories of an installation, with the same permissions for all of them. */
export function toReach(installation: Installation, { list }: Pick<GithubRequests, 'list'>): Reach {
  return {
    async discover(query) {
      const path = '/installation/repositories?per_page=100';
      const found = await list<{ readonly node_id: string }>(path, MAX_REPOSITORIES, 'repositories');
      const nodes: RepositoryNode[] = [];
      for (let start = 0; start < found.length; start += IDS_PER_QUERY) {
        const ids = found.slice(start, start + IDS_PER_QUERY).map(({ node_id }) => node_id);
        nodes.push(...compact((await query<{ nodes: readonly (RepositoryNode | null)[] }>(READ_HEADS, { ids })).nodes));
      }
      return nodes;
    },
    mayWrite: () => true,
    mayManageWebhooks: () => installation.may('repository_hooks'),
  };
}
