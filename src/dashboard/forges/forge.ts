import type { components } from '../../generated/dashboard/types.js';
import type { ActionName, ForgeName, ForgeRepository, RepositorySnapshot } from './model.js';
import type { Inspection } from './inspection.js';

/** An API quota as reported by the forge. Its severity is computed when it is read. */
export type ApiQuota = Omit<components['schemas']['RateLimit'], 'severity'>;

/** A client for one forge (code host) with one credential. Every failure is a `ForgeError`. */
export interface Forge {
  readonly name: ForgeName;
  /** The actions that {@link act} supports for this forge. */
  readonly actions: readonly ActionName[];
  /** The API quotas in the headers of the latest responses. Reading them sends no request. */
  readonly quotas: { readonly graphql?: ApiQuota | undefined; readonly rest?: ApiQuota | undefined };
  /** Lists the repositories that the credential can write to. Costs a few requests. */
  discover(): Promise<ForgeRepository[]>;
  /** Finds the user of the credential and its missing permissions, with a few requests that change nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Reads all open pull requests and issues of repositories. Omits deleted repositories and lists those that the forge
   * can't return in `unread`. Any other failure throws.
   */
  read(repositories: readonly ForgeRepository[]): Promise<ForgeSnapshot>;
  /** Reads one repository. @returns `undefined` when it does not exist or the credential has no access to it. */
  readRepository(fullName: string): Promise<RepositorySnapshot | undefined>;
  /** Reads the checks of a pull request's newest commit. */
  checks(target: PullRequestTarget): Promise<Check[]>;
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
  /** Verifies a webhook delivery. @returns Its event, or `undefined` when it isn't signed with the secret. */
  verifyDelivery(delivery: WebhookDelivery, secret: string): DeliveredEvent | undefined;
}

export interface ForgeSnapshot {
  readonly repositories: readonly RepositorySnapshot[];
  /** Whether pull requests are missing because there are more than the limit. */
  readonly truncated: boolean;
  /** The ids of repositories that exist but that the forge could not return. */
  readonly unread: readonly string[];
}

export interface PullRequestTarget {
  readonly fullName: string;
  readonly number: number;
  /** The head commit that the caller has seen. If the head has changed since, nothing is merged. */
  readonly headSha?: string | undefined;
}

export interface SentComment {
  readonly commentId: string;
  readonly commentUrl?: string | undefined;
}

export interface BotReply {
  /** When the bot acknowledged the command. */
  readonly acknowledgedAt?: string | undefined;
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
  readonly formerUrls?: readonly string[] | undefined;
}

export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw bytes, as the signature covers them. */
  readonly body: Buffer;
}

/** The subject of a delivery. Without a repository, as in a ping, anything may have changed. */
export interface DeliveredEvent {
  readonly fullName?: string;
}
