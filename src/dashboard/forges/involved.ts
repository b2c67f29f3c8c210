/** The pull requests in which a user is involved, in repositories that the board does not list. */
import type {
  ForgePullRequest,
  ForgeRepository,
  InvolvedOptions,
  InvolvedSnapshot,
  Involvement,
  RepositorySnapshot,
} from './forge.js';

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
