/** The reviews of open, merged and closed pull requests, which the board itself does not need. */
import { ForgeError } from './forge-error.js';

/** A step of a review. */
export interface ReviewEvent {
  readonly kind: 'approved' | 'drafted' | 'ready' | 'requested' | 'request_removed' | 'reviewed';
  /** In RFC 3339. */
  readonly at: string;
  /** The reviewer; absent for `drafted` and `ready`, and where the forge hides the account. */
  readonly login?: string;
  readonly isBot?: boolean;
}

/** A pull request with the times of its review. */
export interface PullRequestHistory {
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly author: string;
  readonly authorIsBot: boolean;
  readonly isDraft: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly mergedAt?: string;
  /** Also set for merged pull requests. */
  readonly closedAt?: string;
  /** In any order. An approval is a review, and has the kind `approved` only. */
  readonly events: readonly ReviewEvent[];
}

/** A repository whose history is read. */
export interface HistoryRequest {
  readonly id: string;
  readonly fullName: string;
  /** Pull requests that have not changed since this time, in milliseconds, are omitted. */
  readonly since: number;
}

export interface HistorySnapshot {
  readonly id: string;
  /** The latest change first; at most {@link MAX_HISTORY}. `undefined` if the forge failed to return them. */
  readonly pullRequests: readonly PullRequestHistory[] | undefined;
}

/** The most pull requests of one repository that one request for its history reads. */
export const MAX_HISTORY = 200;

/**
 * Reads the changed pull requests of repositories. Calls `save` after each repository or batch, so that an error loses
 * no earlier ones, and also for repositories that can't be read. Omits deleted and hidden repositories.
 *
 * @throws ForgeError if the forge fails for several repositories in a row, or rejects all requests.
 */
export type ReadHistory = (
  repositories: readonly HistoryRequest[],
  save: (read: readonly HistorySnapshot[]) => Promise<void>,
) => Promise<void>;

/** When this many repositories fail in a row, the forge itself is failing. */
const MAX_FAILURES = 3;

/** Creates a reader that requests one repository after the other, and skips those that the forge can't return. */
export function readHistoriesInTurn(
  readOne: (repository: HistoryRequest) => Promise<readonly PullRequestHistory[]>,
): ReadHistory {
  return async (repositories, save) => {
    let failures = 0;
    for (const repository of repositories) {
      const { id } = repository;
      let error: unknown;
      const pullRequests = await readOne(repository).catch((caught: unknown) => void (error = caught));
      if (error instanceof ForgeError && ['address_refused', 'rate_limited'].includes(error.kind)) throw error;
      await save([{ id, pullRequests: pullRequests ?? undefined }]);
      failures = pullRequests ? 0 : failures + 1;
      if (failures === MAX_FAILURES) throw error;
    }
  };
}

/** Names that bots have at forges which do not mark their accounts. */
const BOT_NAME = /\[bot\]$|^(?:dependabot|renovate)(?:-bot)?$/i;

export const isBotName = (login: string): boolean => BOT_NAME.test(login);

/** Reads pages, the latest change first, until one has an item that has not changed since a time, or none is left. */
export async function readChangedSince<T extends { readonly updatedAt: string }>(
  since: number,
  first: { readonly items: readonly T[]; readonly next?: string },
  readPage: (after: string) => Promise<{ readonly items: readonly T[]; readonly next?: string }>,
): Promise<T[]> {
  const found: T[] = [];
  for (let page = first; ;) {
    const changed = page.items.filter(({ updatedAt }) => Date.parse(updatedAt) > since);
    found.push(...changed);
    const isOver = changed.length < page.items.length || found.length >= MAX_HISTORY;
    if (isOver || page.next === undefined || page.items.length === 0) return found.slice(0, MAX_HISTORY);
    page = await readPage(page.next);
  }
}
