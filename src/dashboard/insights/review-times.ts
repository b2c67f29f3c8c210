/**
 * The times of a pull request's review, in milliseconds. Like github/issue-metrics, a review counts from the end of the
 * first draft on, and reviews of the author and of bots do not count.
 */
import type { PullRequestHistory, ReviewEvent } from '../forges/history.js';

export interface ReviewTimes {
  readonly openedAt: number;
  /** When it was opened, or first left draft; absent while it has always been a draft. */
  readonly readyAt?: number;
  /** The first review since it was ready. */
  readonly reviewedAt?: number;
  /** The last approval since it was ready. */
  readonly approvedAt?: number;
  readonly mergedAt?: number;
  /** When it was merged or closed. */
  readonly closedAt?: number;
  readonly reviewers: readonly ReviewerTimes[];
}

/** The part of one person in the review of a pull request. */
export interface ReviewerTimes {
  readonly login: string;
  /** The last request for a review before the review; the last one if there is no review after it. */
  readonly requestedAt?: number;
  /** The first review since that request, or the first one without a request. */
  readonly reviewedAt?: number;
  /** The last review. */
  readonly lastReviewedAt?: number;
  /** Whether the request waits for a review; it was not removed. */
  readonly isPending: boolean;
}

type TimedEvent = Omit<ReviewEvent, 'at'> & { readonly at: number };

const isReview = ({ kind }: TimedEvent): boolean => kind === 'approved' || kind === 'reviewed';

export function findReviewTimes(history: PullRequestHistory): ReviewTimes {
  const openedAt = Date.parse(history.createdAt);
  const events = history.events.map((one) => ({ ...one, at: Date.parse(one.at) })).toSorted((a, b) => a.at - b.at);
  const closedAt = toOptionalTime(history.closedAt);
  const drafted = events.find(({ kind }) => kind === 'drafted' || kind === 'ready');
  const leftDraft = events.find(({ kind }) => kind === 'ready')?.at;
  // A draft that became one after it was opened has been ready before.
  const isDraftOnly = leftDraft === undefined && history.isDraft && drafted === undefined;
  const readyAt = isDraftOnly ? undefined : drafted?.kind === 'ready' ? leftDraft : openedAt;
  const own = history.author.toLowerCase();
  const others = events.filter(
    ({ login, isBot, at }) =>
      login !== undefined && isBot !== true && login.toLowerCase() !== own && at <= (closedAt ?? Infinity),
  );
  const reviews = readyAt === undefined ? [] : others.filter((one) => isReview(one) && one.at >= readyAt);
  return {
    openedAt,
    ...optional('readyAt', readyAt),
    ...optional('reviewedAt', reviews[0]?.at),
    ...optional('approvedAt', reviews.findLast(({ kind }) => kind === 'approved')?.at),
    ...optional('mergedAt', toOptionalTime(history.mergedAt)),
    ...optional('closedAt', closedAt),
    reviewers: listReviewers(others),
  };
}

const toOptionalTime = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);

const optional = <Name extends string>(name: Name, time: number | undefined) =>
  (time === undefined ? {} : { [name]: time }) as Partial<Record<Name, number>>;

/** The most reviewers of a pull request that are stored. */
const MAX_REVIEWERS = 30;

function listReviewers(events: readonly TimedEvent[]): ReviewerTimes[] {
  const groups = new Map<string, TimedEvent[]>();
  for (const event of events) {
    const key = event.login?.toLowerCase() ?? '';
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  const all = Array.from(groups.values(), toReviewer);
  return all.filter((one) => one.requestedAt !== undefined || one.lastReviewedAt !== undefined).slice(0, MAX_REVIEWERS);
}

/** Follows the events of one reviewer, oldest first. A new request after a review starts a new wait. */
function toReviewer(events: readonly TimedEvent[]): ReviewerTimes {
  let requestedAt: number | undefined;
  let reviewedAt: number | undefined;
  let lastReviewedAt: number | undefined;
  let isPending = false;
  for (const event of events) {
    if (event.kind === 'requested') {
      // A second request for the same review does not shorten the wait.
      if (!isPending) [requestedAt, reviewedAt] = [event.at, undefined];
      isPending = true;
    } else if (event.kind === 'request_removed') {
      if (isPending) requestedAt = undefined;
      isPending = false;
    } else if (isReview(event)) {
      reviewedAt ??= event.at;
      lastReviewedAt = event.at;
      isPending = false;
    }
  }
  return {
    login: events[0]?.login ?? '',
    ...optional('requestedAt', requestedAt),
    ...optional('reviewedAt', reviewedAt),
    ...optional('lastReviewedAt', lastReviewedAt),
    isPending,
  };
}
