import type { components } from '../../generated/dashboard/types.js';
import type { ActionName, ForgeName, ForgeRepository, RepositoryReading } from './facts.js';
import type { Inspection } from './inspection.js';

/** What is left of a budget, as the forge said; it is graded when it is read. */
export type Budget = Omit<components['schemas']['RateLimit'], 'severity'>;

/** Gives what a forge knows, and does there what it is told. What goes wrong on the way is a `ForgeError`. */
export interface Forge {
  readonly name: ForgeName;
  /** What {@link act} takes here. */
  readonly actions: readonly ActionName[];
  /** What the last answers said was left, without asking for it. */
  readonly budgets: { readonly graphql?: Budget | undefined; readonly rest?: Budget | undefined };
  /** Finds the repositories that the credential may write to, at the price of a few requests. */
  discover(): Promise<ForgeRepository[]>;
  /** Finds out whose credential it is and what it lacks, by a few requests that change nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Reads repositories whole. Those that are gone are left out, and those that the forge can't give are told apart; with
   * any other failure there is no answer at all.
   */
  read(repositories: readonly ForgeRepository[]): Promise<Reading>;
  /** @returns `undefined` when there is none of this name, or not for this credential. */
  readRepository(fullName: string): Promise<RepositoryReading | undefined>;
  /** Asks for the checks of a pull request's newest commit. */
  checks(target: Target): Promise<Check[]>;
  /**
   * Does it once; nothing is repeated here. It throws ForgeError: without a `refusal`, the pull request could not be
   * read first, and nothing was sent. With one, it was sent or about to be; then nobody knows whether it was done when
   * the kind is `unreachable` or `unknown`, and with any other kind it was not.
   *
   * @returns `queued` when the forge will do it later, and the comment where that is all: its bot will, or not.
   */
  act(target: Target, action: ActionName): Promise<SentComment | 'done' | 'queued'>;
  /** Reads what a bot made of comments that {@link act} wrote, by their ids. Of those that are gone it says nothing. */
  readonly readReplies?: (comments: readonly string[]) => Promise<ReadonlyMap<string, Reply>>;
  /**
   * Has the forge deliver what changes in a repository: sets up a webhook, or corrects the one that has the same path
   * already. A missing permission is a `ForgeError` that says which.
   */
  ensureWebhook(fullName: string, hook: Hook): Promise<void>;
  /** @returns What a delivery is about, or `undefined` when it isn't signed with the secret. */
  verifyDelivery(delivery: Delivery, secret: string): DeliveredEvent | undefined;
}

export interface Reading {
  readonly repositories: readonly RepositoryReading[];
  /** There are more open pull requests than are read. */
  readonly truncated: boolean;
  /** The ids of repositories that are there, but that the forge did not give. */
  readonly unread: readonly string[];
}

export interface Target {
  readonly fullName: string;
  readonly number: number;
  /** The newest commit as the caller knows it: with another, nothing is merged. */
  readonly headSha?: string | undefined;
}

export interface SentComment {
  readonly commentId: string;
  readonly commentUrl?: string | undefined;
}

export interface Reply {
  /** When it said that it will. */
  readonly acknowledgedAt?: string | undefined;
  /** It takes no commands from this credential. */
  readonly isRefused: boolean;
}

export interface Check {
  readonly name: string;
  readonly url: string;
  readonly state: 'queued' | 'running' | 'success' | 'failure' | 'cancelled' | 'skipped' | 'timed_out';
  /** Left out when the forge doesn't tell. */
  readonly required?: boolean;
  readonly durationSeconds?: number;
  readonly failedStep?: string;
  /** The end of the log as plain text, of at most 2,000 characters. */
  readonly excerpt?: string;
}

/** Where deliveries are to go, and what they are to be signed with. */
export interface Hook {
  readonly url: string;
  readonly secret: string;
  /** Where they went before: hooks with their paths are replaced. */
  readonly formerUrls?: readonly string[] | undefined;
}

export interface Delivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came: a signature is of bytes. */
  readonly body: Buffer;
}

/** Without a repository (as a ping has none), anything may have changed. */
export interface DeliveredEvent {
  readonly fullName?: string;
}
