/** What forges say, in the board's words. */
import type { components } from '../../generated/dashboard/types.js';

type Schemas = components['schemas'];
export type ForgeName = Schemas['ForgeName'];
export type PullRequest = Schemas['PullRequest'];
export type Issue = Schemas['Issue'];
export type CiStatus = Schemas['CiStatus'];
export type ActionName = Schemas['PullRequestAction'];

export interface ForgeRepository {
  /** What the forge calls it, for ever. */
  readonly id: string;
  readonly fullName: string;
  readonly url: string;
  readonly canManageWebhooks: boolean;
  /**
   * Differs when a pull request or an issue changed or code was pushed. Checks alone don't move it: while some are
   * pending, a repository is to be read anyway.
   */
  readonly revision: string;
}

export interface RepositoryReading {
  readonly repository: ForgeRepository;
  readonly pullRequests: readonly PullRequestFacts[];
  readonly issues: readonly IssueFacts[];
  /** How many pull requests are open but could not be read. */
  readonly incomplete?: number;
}

/** What follows from the rest of a pull request, from others of its repository, or from what is kept here. */
type Derived =
  | 'allowedActions'
  | 'autoMerge'
  | 'botRequest'
  | 'changedSinceVisit'
  | 'forge'
  | 'kind'
  | 'needsReview'
  | 'readyToMerge'
  | 'reviewRequestedFromMe'
  | 'section'
  | 'snooze'
  | 'stack'
  | 'stackChildren'
  | 'stackedOn'
  | 'updateRequest';

export type PullRequestFacts = Readonly<Omit<PullRequest, Derived>>;
export type IssueFacts = Readonly<Omit<Issue, 'forge' | 'housekeeping'>>;

/** @param ci `undefined` when the forge did not give it, which is not the same as having no checks. */
export const toKnownCi = (ci: CiStatus | undefined): Pick<PullRequestFacts, 'ci' | 'ciKnown'> =>
  ci === undefined ? { ci: 'none', ciKnown: false } : { ci };
