/** The one interface to all code hosts, and the data of forges in a common model with the field names of the board. */
import type { components } from '../../generated/dashboard/types.js';
import type { ReadHistory } from './history.js';

type Schemas = components['schemas'];
export type ForgeName = Schemas['ForgeName'];
export type PullRequest = Schemas['PullRequest'];
export type Issue = Schemas['Issue'];
export type CiStatus = Schemas['CiStatus'];
export type MergeMethod = NonNullable<Schemas['MergeRequest']['method']>;
export type HiddenRepositories = Schemas['HiddenRepositories'];
export type PullRequestDetails = Schemas['PullRequestDetails'];
export type Involvement = Schemas['Involvement'];
export type IncompleteSearch = Schemas['IncompleteSearch'];
/** A new review of a pull request. */
export type NewReview = Pick<Schemas['ReviewRequest'], 'text' | 'verdict'>;
/** Changes of reviewers, assignees and labels. */
export type PullRequestEdit = Pick<Schemas['EditRequest'], 'assignees' | 'labels' | 'reviewers'>;
/** An action whose availability boards show. */
export type BoardAction = Schemas['PullRequestAction'];
/** Only the forge decides whether `edit` and `review` are allowed. */
export type ActionName = BoardAction | 'edit' | 'review';

/** A client for one forge (code host) with one credential. Every failure is a `ForgeError`. */
export interface Forge {
  readonly name: ForgeName;
  /** The actions that {@link act} supports for this forge. */
  readonly actions: readonly ActionName[];
  /** The API quotas in the headers of the latest responses. Reading them sends no request. */
  readonly quotas: { readonly graphql?: ApiQuota; readonly rest?: ApiQuota };
  /** Why the forge hid repositories since the last {@link discover}; `undefined` if it hid none. Sends no request. */
  readonly hidden?: HiddenRepositories;
  /** When the credential expires, in milliseconds, as of the latest response. Sends no request. */
  readonly expiresAt?: number;
  /** Lists the repositories that the credential can write to. Costs a few requests. */
  discover(): Promise<ForgeRepository[]>;
  /** Finds the user of the credential and its missing permissions, with a few requests that change nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Reads all open pull requests and issues of repositories. Omits deleted repositories and lists those that the forge
   * can't return in `unread`. Any other failure throws.
   */
  read(repositories: readonly ForgeRepository[]): Promise<ForgeSnapshot>;
  /**
   * Finds the repositories of which a pull request differs from its row in a value that changes without a new revision,
   * such as the results of checks. Absent for forges where this takes as many requests as reading them.
   *
   * @returns Their ids.
   */
  readonly findOutdated?: (known: readonly KnownRepository[]) => Promise<ReadonlySet<string>>;
  /**
   * Searches for the open pull requests in which the user of the credential is involved, and reads those outside of the
   * listed repositories. Absent for credentials without a user.
   *
   * @param listed The ids of the repositories to omit.
   */
  readonly readInvolved?: (listed: ReadonlySet<string>, options?: InvolvedOptions) => Promise<InvolvedSnapshot>;
  /** Reads the reviews of changed pull requests. Absent for clients that can't afford the requests. */
  readonly readHistory?: ReadHistory;
  /** Reads one repository. @returns `undefined` when it does not exist or the credential has no access to it. */
  readRepository(fullName: string): Promise<RepositorySnapshot | undefined>;
  /** Reads whether a pull request is open, with one request. Throws `not_found` if it doesn't exist. */
  readState(target: PullRequestTarget): Promise<PullRequestOutcome>;
  /** Reads the checks of a pull request's newest commit. */
  checks(target: PullRequestTarget): Promise<Check[]>;
  /** Reads the size, the reviews, the unresolved threads and the comments of a pull request. */
  details(target: PullRequestTarget): Promise<PullRequestDetails>;
  /**
   * Performs an action without retries.
   *
   * @returns `queued` when the forge performs the action later, or the comment when the action is a command to a bot,
   * which may ignore it.
   * @throws ForgeError without `refusal` when the pull request could not be read, so nothing was sent. With `refusal`,
   * the request was sent or about to be sent: the outcome is unknown for the kinds `unreachable` and `unknown`, and the
   * action was not performed for any other kind.
   */
  act(target: PullRequestTarget, action: ActionName): Promise<SentComment | 'done' | 'queued'>;
  /** Reads the replies of a bot to comments that {@link act} wrote, by comment id. Omits deleted comments. */
  readonly readReplies?: (comments: readonly string[]) => Promise<ReadonlyMap<string, BotReply>>;
  /**
   * Creates a webhook for the events of a repository, or corrects the existing one with the same path. The `ForgeError`
   * for a missing permission names it.
   */
  ensureWebhook(fullName: string, hook: WebhookConfig): Promise<void>;
}

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
  /** Whether it has only the pull requests in which the user is involved. */
  readonly yoursOnly?: true;
  /** The number of open pull requests that could not be read. */
  readonly incomplete?: number;
}

/** The rows of a repository's open pull requests as of its latest snapshot. */
export interface KnownRepository {
  readonly id: string;
  readonly pullRequests: readonly ForgePullRequest[];
}

export interface InvolvedOptions {
  /** The latest snapshots. The forge may return their rows of pull requests that have not changed. */
  readonly known?: readonly KnownRepository[];
  /** The most pull requests to read, fewer than the limit of the forge. */
  readonly most?: number;
}

/** The pull requests of a user in repositories that are not listed. */
export interface InvolvedSnapshot {
  /** The repositories, without their other pull requests and without issues. */
  readonly repositories: readonly RepositorySnapshot[];
  /** Whether the search found more than is read. */
  readonly truncated: boolean;
}

/** Fields that are computed from other fields, from other pull requests of the repository, or from local state. */
type Derived =
  | 'allowedActions'
  | 'autoMerge'
  | 'botRequest'
  | 'changedSinceVisit'
  | 'credential'
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

export interface ForgeSnapshot {
  readonly repositories: readonly RepositorySnapshot[];
  /** Whether pull requests are missing because there are more than the limit. */
  readonly truncated: boolean;
  /** The ids of repositories that exist but that the forge could not return. */
  readonly unread: readonly string[];
}

/** The user and the missing permissions of a credential. */
export interface Inspection {
  /** The user of the credential, if the forge reports it. */
  readonly username?: string;
  /** `undefined` when the credential can't list repositories. */
  readonly repositories: readonly ForgeRepository[] | undefined;
  /** Limited to permissions that can be checked without changing anything. */
  readonly missing: readonly MissingPermission[];
  /** When the credential expires, in milliseconds, if the forge reports it. */
  readonly expiresAt?: number;
}

export interface MissingPermission {
  /** The forge's name of the permission. */
  readonly permission: string;
  /** An infinitive, such as "to set up webhooks". */
  readonly purpose: string;
}

export type PullRequestOutcome = 'closed' | 'merged' | 'open';

/** The input of the actions that have one. */
export interface ActionInput {
  /** The method of the action `merge`. By default, the forge's client chooses one that the repository allows. */
  readonly method?: MergeMethod;
  readonly review?: NewReview;
  readonly edit?: PullRequestEdit;
}

export interface PullRequestTarget extends ActionInput {
  readonly fullName: string;
  readonly number: number;
  /** The head commit that the caller has seen. If the head has changed since, nothing is merged. */
  readonly headSha?: string;
}

export interface SentComment {
  readonly commentId: string;
  readonly commentUrl?: string;
}

export interface BotReply {
  /** When the bot acknowledged the command. */
  readonly acknowledgedAt?: string;
  /** Whether the bot rejects commands from this credential. */
  readonly isRefused: boolean;
}

export interface Check {
  readonly name: string;
  readonly url: string;
  readonly state: 'queued' | 'running' | 'success' | 'failure' | 'cancelled' | 'skipped' | 'timed_out';
  /** Omitted when the forge doesn't report it. */
  readonly required?: boolean;
  readonly durationSeconds?: number;
  readonly failedStep?: string;
  /** The end of the log as plain text, of at most 2,000 characters. */
  readonly excerpt?: string;
}

/** The address and the signing secret of a webhook. */
export interface WebhookConfig {
  readonly url: string;
  readonly secret: string;
  /** Previous addresses. Webhooks with their paths are replaced. */
  readonly formerUrls?: readonly string[];
}

/**
 * Returns the owner and the name of a repository at a forge without nested groups; `undefined` for a name with more or
 * fewer parts. Dots alone would lead to a different path of the API.
 */
export function splitRepositoryName(fullName: string): readonly [owner: string, name: string] | undefined {
  const [owner = '', name = '', ...more] = fullName.split('/');
  return more.length > 0 || [owner, name].some((part) => /^\.{0,2}$/.test(part)) ? undefined : [owner, name];
}

/** Returns a key that ignores the case of the name, as forges do. */
export function repositoryKey(forge: ForgeName, fullName: string): string {
  return `${forge} ${fullName.toLowerCase()}`;
}

export function pullRequestKey(forge: ForgeName, fullName: string, number: number): string {
  return `${repositoryKey(forge, fullName)} ${number}`;
}

/**
 * Converts a CI status to fields.
 *
 * @param ci `undefined` when the forge did not report it, unlike `none` for no checks.
 */
export const toCiFields = (ci: CiStatus | undefined): Pick<ForgePullRequest, 'ci' | 'ciKnown'> =>
  ci === undefined ? { ci: 'none', ciKnown: false } : { ci };

export const FORGE_PRODUCT_NAMES: Readonly<Record<ForgeName, string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo',
  gitlab: 'GitLab',
};

export type RateLimit = Schemas['RateLimit'];

/** An API quota as reported by the forge. Its severity is computed when it is read. */
export type ApiQuota = Omit<RateLimit, 'severity'>;

const WARNING_SHARE = 0.2;
const LOW_SHARE = 0.05;

/** Sets the severity of an API quota at a time in milliseconds, because an exceeded quota may have been reset since. */
export function withSeverity(quota: RateLimit, at: number): RateLimit {
  return { ...quota, severity: severityOf(quota, at) };
}

function severityOf({ limit, remaining, resetsAt }: RateLimit, at: number): RateLimit['severity'] {
  if (remaining === 0 && at < Date.parse(resetsAt)) return 'exceeded';
  if (remaining === 0 || remaining < limit * LOW_SHARE) return 'low';
  return remaining < limit * WARNING_SHARE ? 'warning' : 'ok';
}
