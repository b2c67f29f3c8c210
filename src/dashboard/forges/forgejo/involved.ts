import { mapWithConcurrency } from '@trellis/core/concurrency';
import { undefinedIfNotFound } from '../forge-error.js';
import type { ForgePullRequest, InvolvedOptions, InvolvedSnapshot, Involvement } from '../forge.js';
import type { RestClient } from '../http/rest.js';
import { type InvolvedSearch, readInvolvedPullRequests } from '../involved.js';
import { isInvalidResponse, toRepositoryPath } from '../read-repositories.js';
import type { PullRequestNode, SearchResultNode } from './parse.js';

/** The parameters of the search. The server combines several with "and", so each needs a request. */
const PARAMETERS: Readonly<Record<Involvement, string>> = {
  author: 'created',
  review_requested: 'review_requested',
  assigned: 'assigned',
  mentioned: 'mentioned',
};

/** The most results of one search that are used. */
const MAX_FOUND = 500;

type Found = SearchResultNode & { readonly repository: NonNullable<SearchResultNode['repository']> };

interface InvolvedReaderOptions {
  readonly rest: RestClient;
  /** The URL of the forge's pages. */
  readonly webUrl: string;
  readonly readFacts: (repo: string, node: PullRequestNode) => Promise<ForgePullRequest>;
}

/** Finds the pull requests of the user, and reads those outside of the listed repositories. @see Forge.readInvolved */
export async function readInvolvedAtForgejo(
  { rest, webUrl, readFacts }: InvolvedReaderOptions,
  listed: ReadonlySet<string>,
  options?: InvolvedOptions,
): Promise<InvolvedSnapshot> {
  async function search(involvement: Involvement): Promise<InvolvedSearch<Found>> {
    const path = `/repos/issues/search?type=pulls&state=open&${PARAMETERS[involvement]}=true&limit=50`;
    const nodes = await rest.list<SearchResultNode | null>(path, MAX_FOUND + 1);
    return { found: nodes.filter(isFound).slice(0, MAX_FOUND), truncated: nodes.length > MAX_FOUND };
  }

  async function readOne({ number, repository }: Found): Promise<ForgePullRequest | 'unread' | undefined> {
    const path = `${toRepositoryPath(repository.full_name)}/pulls/${number}`;
    try {
      const node = (await rest.get(path).catch(undefinedIfNotFound)) as PullRequestNode | undefined;
      if (node?.state !== 'open' || node.base.repo?.archived === true) return undefined;
      const row = await readFacts(repository.full_name, node);
      return node.base.repo?.permissions?.push === true ? row : { ...row, readOnly: true };
    } catch (error) {
      if (isInvalidResponse(error)) return 'unread';
      throw error;
    }
  }

  return readInvolvedPullRequests(
    {
      search,
      keyOf: ({ number, repository }) => `${repository.id} ${number}`,
      repositoryOf: ({ repository: { id, full_name: fullName } }) => ({
        id: String(id),
        fullName,
        url: `${webUrl}/${fullName}`,
      }),
      read: (found) => mapWithConcurrency(found, readOne),
    },
    listed,
    options,
  );
}

const isFound = (node: SearchResultNode | null): node is Found => node?.repository != null;
