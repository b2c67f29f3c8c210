import { createHash } from 'node:crypto';
import { mapWithConcurrency } from '@trellis/core/concurrency';
import { ForgeError } from './forge-error.js';
import {
  type ForgeIssue,
  type ForgeRepository,
  type ForgeSnapshot,
  type RepositorySnapshot,
  splitRepositoryName,
  type ForgePullRequest,
  type InvolvedOptions,
  type InvolvedSnapshot,
  type Involvement,
  type PullRequestOutcome,
  type PullRequestTarget,
} from './forge.js';
import type { RestClient } from './http/requests.js';

/** The most pull requests of one forge on a board. A row of a board takes about 1 kB. */
export const MAX_PULL_REQUESTS = 5_000;

/** The most issues that are read of one repository, in pages of 50. */
export const MAX_ISSUES = 1_000;

/**
 * The most repositories of one forge on a board. Users with write access to more have it through a team and follow few.
 */
export const MAX_REPOSITORIES = 2_000;

/**
 * Builds a forge snapshot of at most {@link MAX_PULL_REQUESTS} pull requests. Drops those of the last repositories
 * first and sets `truncated` if it dropped any.
 */
export function truncateSnapshot(
  readings: readonly RepositorySnapshot[],
  unread: readonly string[] = [],
): ForgeSnapshot {
  let left = MAX_PULL_REQUESTS;
  let truncated = false;
  const repositories = readings.map((reading) => {
    const pullRequests = reading.pullRequests.slice(0, left);
    left -= pullRequests.length;
    truncated ||= pullRequests.length < reading.pullRequests.length;
    return { ...reading, pullRequests };
  });
  return { repositories, truncated, unread };
}

/**
 * Reads each repository. A repository with an invalid response is listed in `unread`.
 *
 * @throws The error of the first invalid response when no repository could be read: then the fault is the forge's.
 */
export async function readRepositories(
  repositories: readonly ForgeRepository[],
  readWhole: (repository: ForgeRepository) => Promise<RepositorySnapshot | undefined>,
): Promise<ForgeSnapshot> {
  const odd = new Map<string, unknown>();
  const readings = await mapWithConcurrency(repositories, (repository) =>
    readWhole(repository).catch((error: unknown) => {
      if (!isInvalidResponse(error)) throw error;
      odd.set(repository.id, error);
      return undefined;
    }),
  );
  const found = readings.filter((reading) => reading !== undefined);
  if (found.length === 0) for (const error of odd.values()) throw error;
  return truncateSnapshot(found, [...odd.keys()]);
}

/** Maps the items and counts those that `map` could not interpret. Rethrows every other error of `map`. */
export async function mapValid<T, R>(
  items: readonly T[],
  map: (item: T) => Promise<R> | R,
): Promise<{ readonly mapped: R[]; readonly odd: number }> {
  const odd = Symbol('odd');
  const all = await mapWithConcurrency(items, async (item) => {
    try {
      return await map(item);
    } catch (error) {
      if (!isInvalidResponse(error)) throw error;
      return odd;
    }
  });
  const mapped = all.filter((one): one is Awaited<R> => one !== odd);
  return { mapped, odd: all.length - mapped.length };
}

/**
 * Maps the repositories that a forge lists. `map` returns an empty list for repositories that don't belong on a board.
 *
 * @throws ForgeError `unknown` when no item is valid: then the whole response is.
 */
export async function mapRepositories<T, R>(items: readonly T[], map: (item: T) => readonly R[]): Promise<R[]> {
  const { mapped, odd } = await mapValid(items, map);
  if (odd > 0 && odd === items.length) throw new ForgeError('unknown', { cause: new Error('No item is valid.') });
  return mapped.flat();
}

/** Reports whether a response could not be interpreted, rather than that the forge rejected or failed the request. */
export const isInvalidResponse = (error: unknown): boolean =>
  !(error instanceof ForgeError) || error.kind === 'unknown';

/** Removes duplicates by number: items may move to the next page while pages are read. */
export function uniqueByNumber<T extends { readonly number: number }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.number, item])).values()];
}

/** An issue in the format that the REST APIs of GitHub and Forgejo share. */
export interface RestIssueNode {
  readonly number: number;
  readonly title: string;
  readonly html_url: string;
  /** Null for a deleted account. */
  readonly user: { readonly login: string } | null;
  readonly labels: readonly { readonly name: string; readonly color: string }[] | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export function toForgeIssue(node: RestIssueNode, repo: string): ForgeIssue {
  const { number, title, html_url: url, user, labels, created_at: createdAt, updated_at: updatedAt } = node;
  return {
    repo,
    number,
    title,
    url,
    author: user?.login ?? 'ghost',
    labels: labels ?? [],
    createdAt,
    updatedAt,
  };
}

/** Returns a hash that changes with any value of `head` and with every change of the open issues and pull requests. */
export function toRevision(
  head: readonly (string | null)[],
  open: readonly Pick<RestIssueNode, 'number' | 'updated_at'>[],
): string {
  const changes = open.map(({ number, updated_at }) => `${number} ${updated_at}`).sort();
  return createHash('sha256')
    .update([...head, ...changes].join('\n'))
    .digest('base64url');
}

/** @throws ForgeError `not_found` for a name with more or fewer than two parts. */
export function toOwnerAndName(fullName: string): { readonly owner: string; readonly name: string } {
  const [owner, name] = splitRepositoryName(fullName) ?? [];
  if (owner === undefined || name === undefined) throw new ForgeError('not_found');
  return { owner, name };
}

/** Returns the path of a repository in the REST API of GitHub or Forgejo. @throws As {@link toOwnerAndName}. */
export function toRepositoryPath(fullName: string): string {
  const { owner, name } = toOwnerAndName(fullName);
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
}

// The pull requests in which a user is involved, in repositories that the board does not list.

/** The most pull requests that are read outside of the listed repositories. */
const MAX_INVOLVED = 200;

export interface InvolvedSearch<Found> {
  readonly found: readonly Found[];
  /** Whether the forge has more results than were read. */
  readonly truncated: boolean;
}

interface Involved<Found> {
  readonly found: Found;
  readonly foundBy: readonly Involvement[];
}

interface InvolvedForge<Found> {
  readonly search: (involvement: Involvement) => Promise<InvolvedSearch<Found>>;
  /** A key of the pull request at the forge. */
  readonly keyOf: (found: Found) => string;
  readonly repositoryOf: (found: Found) => Pick<ForgeRepository, 'fullName' | 'id' | 'url'>;
  /** Reads pull requests, in order: `unread` for those that the forge fails to return, `undefined` for closed ones. */
  readonly read: (found: readonly Found[]) => Promise<readonly (ForgePullRequest | 'unread' | undefined)[]>;
}

/** In the order in which results are read, as there may be too many. */
const INVOLVEMENTS: readonly Involvement[] = ['author', 'review_requested', 'assigned', 'mentioned'];

/** Searches, merges the results, and reads at most 200 of them, or `most`, outside of the listed repositories. */
export async function readInvolvedPullRequests<Found>(
  { search, keyOf, repositoryOf, read }: InvolvedForge<Found>,
  listed: ReadonlySet<string>,
  { most = MAX_INVOLVED }: Pick<InvolvedOptions, 'most'> = {},
): Promise<InvolvedSnapshot> {
  const involved = new Map<string, Involved<Found>>();
  let truncated = false;
  for (const involvement of INVOLVEMENTS) {
    const { found, truncated: isPart } = await search(involvement);
    truncated ||= isPart;
    for (const one of found) {
      if (listed.has(repositoryOf(one).id)) continue;
      const foundBy = involved.get(keyOf(one))?.foundBy ?? [];
      involved.set(keyOf(one), { found: one, foundBy: [...foundBy, involvement] });
    }
  }
  const chosen = [...involved.values()].slice(0, most);
  const rows = await read(chosen.map(({ found }) => found));
  const repositories = new Map<string, RepositorySnapshot>();
  for (const [index, { found, foundBy }] of chosen.entries()) {
    const row = rows[index];
    if (row === undefined) continue;
    const { id } = repositoryOf(found);
    const known = repositories.get(id) ?? toEmptySnapshot(repositoryOf(found));
    repositories.set(
      id,
      row === 'unread'
        ? { ...known, incomplete: (known.incomplete ?? 0) + 1 }
        : { ...known, pullRequests: [...known.pullRequests, { ...row, foundBy }] },
    );
  }
  return { repositories: [...repositories.values()], truncated: truncated || involved.size > most };
}

/** The revision is constant, as every refresh searches again. */
function toEmptySnapshot({ id, fullName, url }: Pick<ForgeRepository, 'fullName' | 'id' | 'url'>): RepositorySnapshot {
  const repository = { id, fullName, url, canManageWebhooks: false, revision: 'involved' };
  return { repository, yoursOnly: true, pullRequests: [], issues: [] };
}

/** A pull request in the REST API of GitHub, Forgejo and Gitea. */
interface PullRequestNode {
  readonly state: string;
  readonly merged?: boolean;
}

/** Reads the state of a pull request at GitHub, Forgejo or Gitea. @see Forge.readState */
export async function readPullRequestState(
  rest: Pick<RestClient, 'get'>,
  { fullName, number }: PullRequestTarget,
): Promise<PullRequestOutcome> {
  const node = (await rest.get(`${toRepositoryPath(fullName)}/pulls/${number}`)) as PullRequestNode;
  if (node.merged === true) return 'merged';
  return node.state === 'closed' ? 'closed' : 'open';
}
