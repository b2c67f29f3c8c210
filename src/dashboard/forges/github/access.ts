import githubAppJwt from 'universal-github-app-jwt';
import { createForgeRequests, type ForgeRequestsOptions, createRestClient } from '../http/requests.js';
import { MAX_REPOSITORIES } from '../read-repositories.js';
import { createDiscovery, readSummaries } from './discovery.js';
import type { RepositoryNode } from './nodes.js';
import { type GithubRequests, toGithubApiUrl, toGithubProtocol } from './requests.js';

/** Sends a GraphQL query. The caller chooses the result type that belongs to its query. */
export type GraphqlQuery = <T>(text: string, variables: Record<string, unknown>) => Promise<T>;

/** The repositories that a credential has access to, and its permissions there. */
export interface RepositoryAccess {
  /** Whether the credential is a user's, so that a search can name its user. */
  readonly isUser: boolean;
  discover(query: GraphqlQuery): Promise<RepositoryNode[]>;
  /** Whether the board lists the repository: the credential can write to it, or GitHub withholds the permission. */
  isListed(node: Pick<RepositoryNode, 'viewerPermission'>): boolean;
  /** Whether the credential is known to have write access. */
  canWrite(node: Pick<RepositoryNode, 'viewerPermission'>): boolean;
  canManageWebhooks(node: RepositoryNode): boolean;
}

const MAY_WRITE = new Set(['ADMIN', 'MAINTAIN', 'WRITE']);

/** Returns the access of a user's token. */
export const createUserAccess = (requests: GithubRequests): RepositoryAccess => ({
  isUser: true,
  discover: createDiscovery(requests),
  isListed: ({ viewerPermission }) => viewerPermission === null || MAY_WRITE.has(viewerPermission),
  canWrite: ({ viewerPermission }) => MAY_WRITE.has(viewerPermission ?? ''),
  canManageWebhooks: ({ viewerPermission }) => viewerPermission === 'ADMIN',
});

/** Returns the access of an App: the repositories of an installation, with the same permissions for all of them. */
export function toRepositoryAccess(
  installation: Installation,
  { list }: Pick<GithubRequests, 'list'>,
): RepositoryAccess {
  return {
    isUser: false,
    async discover(query) {
      const path = '/installation/repositories?per_page=100';
      const found = await list<{ readonly node_id: string }>(path, MAX_REPOSITORIES, 'repositories');
      return readSummaries(
        query,
        found.map(({ node_id }) => node_id),
      );
    },
    isListed: () => true,
    canWrite: () => true,
    canManageWebhooks: () => installation.hasWriteAccess('repository_hooks'),
  };
}

/** The GitHub App of this Trellis server. */
export interface GithubApp {
  readonly id: number;
  /** An RSA key as PEM. */
  readonly privateKey: string;
  /** The URL of its GitHub's pages; empty for github.com. Only this GitHub receives the tokens that the key signs. */
  readonly url: string;
}

export interface InstallationOptions extends ForgeRequestsOptions {
  readonly app: GithubApp;
  readonly installationId: number;
}

/** An installation of the App, with its latest token and the permissions of that token. */
export interface Installation {
  /** Returns a token that is valid for at least 5 more minutes. GitHub issues them for an hour. */
  readonly token: () => Promise<string>;
  /** Reports whether the installation has write access, as to `repository_hooks`. False before the first token. */
  readonly hasWriteAccess: (permission: string) => boolean;
}

interface TokenResponse {
  readonly token: string;
  readonly expires_at: string;
  readonly permissions?: Readonly<Record<string, string>>;
}

/** A refresh of many repositories may need one token for this long. */
const RENEWED_BEFORE_MS = 300_000;

/** Opens an installation. Concurrent callers share one request for a new token. */
export function openInstallation({ app, installationId, ...options }: InstallationOptions): Installation {
  const now = options.now ?? Date.now;
  const authorize = async (): Promise<string> => {
    const { id, privateKey } = app;
    const { token } = await githubAppJwt({ id, privateKey, now: Math.floor(now() / 1000) });
    return `Bearer ${token}`;
  };
  const rest = createRestClient(createForgeRequests(toGithubProtocol(authorize), options), toGithubApiUrl(app.url));
  let last: TokenResponse | undefined;
  let pending: Promise<TokenResponse> | undefined;

  async function renew(): Promise<TokenResponse> {
    last = (await rest.post(`/app/installations/${installationId}/access_tokens`)) as TokenResponse;
    return last;
  }

  return {
    async token() {
      if (last !== undefined && Date.parse(last.expires_at) - RENEWED_BEFORE_MS > now()) return last.token;
      pending ??= renew().finally(() => (pending = undefined));
      return (await pending).token;
    },
    hasWriteAccess: (permission) => last?.permissions?.[permission] === 'write',
  };
}
