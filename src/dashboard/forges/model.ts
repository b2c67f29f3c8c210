/** The data of forges in a common model, which uses the field names of the board. */
import type { components } from '../../generated/dashboard/types.js';

type Schemas = components['schemas'];
export type ForgeName = Schemas['ForgeName'];
export type PullRequest = Schemas['PullRequest'];
export type Issue = Schemas['Issue'];
export type CiStatus = Schemas['CiStatus'];
export type ActionName = Schemas['PullRequestAction'];

export interface ForgeRepository {
  /** The forge's permanent identifier; it survives renames. */
  readonly id: string;
  readonly fullName: string;
  readonly url: string;
  readonly canManageWebhooks: boolean;
  /**
   * Changes when a pull request or an issue changes or code is pushed. Check results don't change it: a repository with
   * pending checks is always read.
   */
  readonly revision: string;
}

export interface RepositorySnapshot {
  readonly repository: ForgeRepository;
  readonly pullRequests: readonly ForgePullRequest[];
  readonly issues: readonly ForgeIssue[];
  /** The number of open pull requests that could not be read. */
  readonly incomplete?: number;
}

/** Fields that are computed from other fields, from other pull requests of the repository, or from local state. */
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

export type ForgePullRequest = Readonly<Omit<PullRequest, Derived>>;
export type ForgeIssue = Readonly<Omit<Issue, 'forge' | 'housekeeping'>>;

/**
 * Converts a CI status to fields.
 *
 * @param ci `undefined` when the forge did not report it, unlike `none` for no checks.
 */
export const toCiFields = (ci: CiStatus | undefined): Pick<ForgePullRequest, 'ci' | 'ciKnown'> =>
  ci === undefined ? { ci: 'none', ciKnown: false } : { ci };
