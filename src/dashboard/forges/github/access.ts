import githubAppJwt from 'universal-github-app-jwt';
import { ForgeError } from '../forge-error.js';
import { type ConnectionPage, FieldError, fetchRemainingPages, withoutNulls } from '../http/graphql-pages.js';
import { createForgeRequests, type ForgeRequestsOptions, createRestClient } from '../http/requests.js';
import { MAX_REPOSITORIES } from '../read-repositories.js';
import type { RepositoryNode, HeadNode } from './nodes.js';
import { DISCOVER, READ_HEADS, READ_SUMMARIES } from './queries.js';
import { isTimeout, type GithubRequests, toGithubApiUrl, toGithubProtocol } from './requests.js';

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

// Lists the repositories of a token's user. Later calls read only the differences, for a fraction of the cost.

/**
 * How often all repositories are listed. In between, GitHub reports every difference except an issue that is deleted or
 * transferred, and access that is gained in place of access that is lost.
 */
const LISTED_MS = 3_600_000;

/** Covers changes that GitHub lists with a delay. */
const OVERLAP_MS = 300_000;

/** If more pull requests and issues have changed, listing the repositories takes fewer requests. */
const MAX_CHANGED = 500;

/** GitHub accepts a hundred ids per list, and {@link READ_HEADS} has four lists. */
const IDS_PER_LIST = 100;
const LISTS = ['a', 'b', 'c', 'd'] as const;

interface Listing {
  /** In milliseconds, by the clock of this server. */
  readonly listedAt: number;
  /** The time from which changes are listed, by GitHub's clock. Constant, so that GitHub can respond with 304. */
  readonly since: string;
  /** The number that GitHub reports, which includes repositories that are not listed. */
  readonly count: number;
  readonly nodes: ReadonlyMap<string, RepositoryNode>;
}

type Listed = ConnectionPage<RepositoryNode> & { readonly totalCount: number };

type Heads = Partial<Record<(typeof LISTS)[number], readonly (FieldError | HeadNode | null)[]>> & {
  readonly viewer: { readonly repositories: { readonly totalCount: number } };
};

function createDiscovery(
  requests: Pick<GithubRequests, 'hidden' | 'list' | 'now' | 'servedAt'>,
): (query: GraphqlQuery) => Promise<RepositoryNode[]> {
  let last: Listing | undefined;
  let refusedAt = -Infinity;
  /** Whether GitHub has listed all changes so far. */
  let isReliable = true;
  let headsPerQuery = LISTS.length * IDS_PER_LIST;

  async function listAll(query: GraphqlQuery): Promise<RepositoryNode[]> {
    last = undefined;
    const listedAt = requests.now();
    const counts = new Set<number>();
    const readPage = async (after: string | null): Promise<Listed> => {
      const { viewer } = await query<{ readonly viewer: { readonly repositories: Listed } }>(DISCOVER, { after });
      counts.add(viewer.repositories.totalCount);
      return viewer.repositories;
    };
    const first = await readPage(null);
    const since = new Date((requests.servedAt ?? listedAt) - OVERLAP_MS).toISOString();
    const { nodes, missing } = await fetchRemainingPages(first, MAX_REPOSITORIES, readPage);
    // A repository that is added or removed in the meantime moves others to a page that was read before.
    const isWhole = missing === 0 && counts.size === 1 && requests.hidden === undefined && nodes.every(isValid);
    if (isWhole) {
      last = { listedAt, since, count: first.totalCount, nodes: new Map(nodes.map((node) => [node.id, node])) };
    }
    return nodes;
  }

  /** @returns `undefined` if GitHub does not list them, or too many. */
  async function listChanged(since: string): Promise<ReadonlySet<string> | undefined> {
    const path = `/issues?filter=all&state=all&since=${encodeURIComponent(since)}&per_page=100`;
    const changed = await requests
      .list<{ readonly repository_url?: unknown } | null>(path, MAX_CHANGED)
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        refusedAt = requests.now();
        return undefined;
      });
    if (changed === undefined || changed.length >= MAX_CHANGED) return undefined;
    return new Set(changed.map((one) => toName(one?.repository_url)));
  }

  /** Reads smaller lists after a timeout. @returns `undefined` as {@link readHeads}, or if these time out too. */
  async function tryHeads(query: GraphqlQuery, { count, nodes }: Listing): Promise<HeadNode[] | undefined> {
    const ids = [...nodes.keys()];
    for (;;) {
      try {
        return await readHeads(query, ids, { count, perQuery: headsPerQuery });
      } catch (error) {
        if (!isTimeout(error)) throw error;
        if (headsPerQuery === IDS_PER_LIST) return undefined;
        headsPerQuery = IDS_PER_LIST;
      }
    }
  }

  /** @returns `undefined` if repositories were added, removed or hidden, or if the differences can't be read. */
  async function listDifferences(query: GraphqlQuery, listing: Listing) {
    const { since, nodes } = listing;
    const heads = await tryHeads(query, listing);
    if (heads === undefined || requests.hidden !== undefined) return undefined;
    const changed = await listChanged(since);
    if (changed === undefined) return undefined;
    const differing = heads.filter(
      (head) => changed.has(head.nameWithOwner.toLowerCase()) || isDifferent(head, nodes.get(head.id)),
    );
    const ids = differing.map(({ id }) => id);
    const current = new Map((await readSummaries(query, ids)).map((node) => [node.id, node]));
    if (!ids.every((id) => isValid(current.get(id)))) return undefined;
    return new Map([...nodes].map(([id, node]) => [id, current.get(id) ?? node]));
  }

  /** Lists all repositories, and checks that the differences were all that had changed. */
  async function listAllAgain(query: GraphqlQuery, { since }: Listing): Promise<RepositoryNode[]> {
    const changed = await listChanged(since);
    const nodes = await listAll(query);
    const until = (requests.servedAt ?? requests.now()) - OVERLAP_MS;
    isReliable &&= changed === undefined || !nodes.some((node) => isMissing(node, changed, [Date.parse(since), until]));
    return nodes;
  }

  return async (query) => {
    const at = requests.now();
    if (last === undefined || !isReliable || at - refusedAt < LISTED_MS) return listAll(query);
    if (at - last.listedAt >= LISTED_MS) return listAllAgain(query, last);
    const nodes = await listDifferences(query, last);
    if (nodes === undefined) return listAll(query);
    last = { ...last, nodes };
    return [...nodes.values()];
  };
}

/** Reports whether a repository with an update between two times is not among the changed ones. */
function isMissing(
  { nameWithOwner, ...node }: RepositoryNode,
  changed: ReadonlySet<string>,
  [from, until]: readonly [number, number],
): boolean {
  if (changed.has(nameWithOwner.toLowerCase())) return false;
  const updates = [node.latestPullRequests, node.latestIssues].flatMap((latest) => latest.nodes);
  return updates.some((one) => one !== null && Date.parse(one.updatedAt) > from && Date.parse(one.updatedAt) < until);
}

/** As many as cost one point, like a page of {@link DISCOVER}. */
const IDS_PER_SUMMARY = 74;

/** Reads repositories by id. Omits those that the credential has no access to. */
async function readSummaries(query: GraphqlQuery, ids: readonly string[]): Promise<RepositoryNode[]> {
  const nodes: RepositoryNode[] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_SUMMARY) {
    const batch = ids.slice(start, start + IDS_PER_SUMMARY);
    const read = await query<{ nodes: readonly (RepositoryNode | null)[] }>(READ_SUMMARIES, { ids: batch });
    nodes.push(...withoutNulls(read.nodes));
  }
  return nodes;
}

/** @returns `undefined` if any repository is missing, or GitHub lists a different number of repositories. */
async function readHeads(
  query: GraphqlQuery,
  ids: readonly string[],
  { count, perQuery }: { readonly count: number; readonly perQuery: number },
): Promise<HeadNode[] | undefined> {
  const heads: HeadNode[] = [];
  for (let start = 0; start === 0 || start < ids.length; start += perQuery) {
    const toIds = (index: number): readonly string[] => {
      const from = start + index * IDS_PER_LIST;
      return ids.slice(from, Math.min(from + IDS_PER_LIST, start + perQuery));
    };
    const variables = Object.fromEntries(LISTS.map((name, index) => [name, toIds(index)]));
    const data = await query<Heads>(READ_HEADS, variables);
    const read = LISTS.flatMap((name) => data[name] ?? []);
    if (data.viewer.repositories.totalCount !== count || !read.every(isHead)) return undefined;
    heads.push(...read);
  }
  return heads.length === ids.length ? heads : undefined;
}

const isHead = (node: FieldError | HeadNode | null): node is HeadNode =>
  node !== null && !(node instanceof FieldError) && [node.id, node.nameWithOwner].every(isText);

const isText = (value: unknown): boolean => typeof value === 'string';

/** Reports whether GitHub returned every value that the revision consists of. */
function isValid(node: RepositoryNode | undefined): boolean {
  if (node === undefined || !isHead(node)) return false;
  const { latestPullRequests, latestIssues } = node as Partial<RepositoryNode>;
  return [latestPullRequests, latestIssues].every((latest) => Number.isInteger(latest?.totalCount));
}

const isDifferent = (head: HeadNode, known: RepositoryNode | undefined): boolean =>
  known === undefined ||
  (['nameWithOwner', 'pushedAt', 'viewerPermission', 'isArchived', 'isFork', 'url'] as const).some(
    (name) => head[name] !== known[name],
  );

/** Reports whether the token has no access to the list, or GitHub gives up on it or allows no more requests of REST. */
const isRefusal = (error: unknown): boolean =>
  isTimeout(error) ||
  (error instanceof ForgeError && ['conflict', 'not_found', 'rate_limited', 'unauthorized'].includes(error.kind));

/** Returns the name of the repository with this address in the REST API, in lower case. */
const toName = (url: unknown): string => /\/repos\/([^/]+\/[^/]+)$/.exec(String(url))?.[1]?.toLowerCase() ?? '';
