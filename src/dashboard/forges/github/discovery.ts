import { MAX_REPOSITORIES } from '../bounded.js';
import { compact, readRest } from '../http/connections.js';
import type { Page } from '../http/connections.js';
import type { Installation } from './app.js';
import type { RepositoryNode } from './nodes.js';
import { DISCOVER, READ_HEADS } from './queries.js';
import type { GithubRequests } from './requests.js';

/** The caller knows which answer belongs to its query. */
export type Query = <T>(text: string, variables: Record<string, unknown>) => Promise<T>;

/** How a credential finds repositories, and what it may do there. */
export interface Reach {
  discover(query: Query): Promise<RepositoryNode[]>;
  mayWrite(node: RepositoryNode): boolean;
  mayManageWebhooks(node: RepositoryNode): boolean;
}

const MAY_WRITE = new Set(['ADMIN', 'MAINTAIN', 'WRITE']);

interface Found {
  readonly viewer: { readonly repositories: Page<RepositoryNode> };
}

/** That of a person, by their token. */
export const PERSONAL_REACH: Reach = {
  async discover(query) {
    const readPage = async (after: string | null): Promise<Page<RepositoryNode>> =>
      (await query<Found>(DISCOVER, { after })).viewer.repositories;
    return (await readRest(await readPage(null), MAX_REPOSITORIES, readPage)).nodes;
  },
  mayWrite: ({ viewerPermission }) => MAY_WRITE.has(viewerPermission ?? ''),
  mayManageWebhooks: ({ viewerPermission }) => viewerPermission === 'ADMIN',
};

/** What REST gives at once, GraphQL takes at once. */
const IDS_A_QUERY = 100;

/** That of an App: where it is installed, with the permissions that it was given for all of it. */
export function toReach(installation: Installation, { list }: Pick<GithubRequests, 'list'>): Reach {
  return {
    async discover(query) {
      const path = '/installation/repositories?per_page=100';
      const found = await list<{ readonly node_id: string }>(path, MAX_REPOSITORIES, 'repositories');
      const nodes: RepositoryNode[] = [];
      for (let start = 0; start < found.length; start += IDS_A_QUERY) {
        const ids = found.slice(start, start + IDS_A_QUERY).map(({ node_id }) => node_id);
        nodes.push(...compact((await query<{ nodes: readonly (RepositoryNode | null)[] }>(READ_HEADS, { ids })).nodes));
      }
      return nodes;
    },
    mayWrite: () => true,
    mayManageWebhooks: () => installation.may('repository_hooks'),
  };
}
