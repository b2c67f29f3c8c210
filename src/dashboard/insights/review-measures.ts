/** The measures of reviews, as the contract defines them. */
import type { components } from '../../generated/dashboard/types.js';
import type { ForgeName } from '../forges/forge.js';
import type { PullRequestHistory, ReviewEvent } from '../forges/history.js';

type Schemas = components['schemas'];
type ReviewDistribution = Schemas['ReviewDistribution'];
type MeasureName = Schemas['ReviewMeasureName'];
export type RowMeasure = Schemas['ReviewRowMeasure'];

export const MEASURES = [
  'first_review',
  'cycle',
  'review_wait',
  'in_review',
  'merge_wait',
  'waiting',
] as const satisfies readonly MeasureName[];

/** A stored pull request of a person. */
export interface MeasuredPullRequest {
  readonly forge: ForgeName;
  readonly repo: string;
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly author: string;
  readonly isDraft: boolean;
  readonly times: ReviewTimes;
}

/** A pull request that counts for a measure. */
export interface Sample {
  readonly pullRequest: MeasuredPullRequest;
  /** Only for measures of reviewers. */
  readonly reviewer?: string;
  /** The duration; absent if it has none yet. */
  readonly milliseconds?: number;
}

/** A period in milliseconds, with both ends. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Lists the samples of a measure in a period, in the order of the pull requests. */
export function listSamples(all: readonly MeasuredPullRequest[], measure: RowMeasure, period: TimeSpan): Sample[] {
  return all.flatMap((pullRequest): Sample[] => {
    if (measure === 'requested' || measure === 'given' || measure === 'pending') {
      return pullRequest.times.reviewers.flatMap((one) => {
        const found = measureReviewer(pullRequest, one, { measure, period });
        return found === undefined ? [] : [{ pullRequest, reviewer: one.login, ...found }];
      });
    }
    const span = findSpan(pullRequest, measure, period);
    return span === undefined ? [] : [{ pullRequest, milliseconds: Math.max(span.to - span.from, 0) }];
  });
}

const isIn = (at: number | undefined, { from, to }: TimeSpan): boolean => at !== undefined && at >= from && at <= to;

/** Returns the start and the end of a measure of a pull request; `undefined` if it does not count. */
function findSpan(
  { times, isDraft }: MeasuredPullRequest,
  measure: MeasureName,
  period: TimeSpan,
): TimeSpan | undefined {
  const { openedAt, readyAt, reviewedAt, approvedAt, mergedAt, closedAt } = times;
  if (measure === 'waiting') {
    const isWaiting = closedAt === undefined && reviewedAt === undefined && !isDraft;
    return isWaiting ? toSpan(readyAt, period.to) : undefined;
  }
  if (measure === 'first_review') return isIn(reviewedAt, period) ? toSpan(readyAt, reviewedAt) : undefined;
  if (!isIn(mergedAt, period)) return undefined;
  if (measure === 'cycle') return toSpan(openedAt, mergedAt);
  if (measure === 'review_wait') return toSpan(readyAt, reviewedAt);
  return measure === 'in_review' ? toSpan(reviewedAt, approvedAt ?? mergedAt) : toSpan(approvedAt, mergedAt);
}

const toSpan = (from: number | undefined, to: number | undefined): TimeSpan | undefined =>
  from === undefined || to === undefined ? undefined : { from, to };

interface ReviewerMeasure {
  readonly measure: 'given' | 'pending' | 'requested';
  readonly period: TimeSpan;
}

function measureReviewer(
  { times, isDraft }: MeasuredPullRequest,
  { requestedAt, reviewedAt, lastReviewedAt, isPending }: ReviewerTimes,
  { measure, period }: ReviewerMeasure,
): { readonly milliseconds?: number } | undefined {
  if (measure === 'pending') {
    const isWaiting = isPending && times.closedAt === undefined && !isDraft && requestedAt !== undefined;
    return isWaiting ? { milliseconds: Math.max(period.to - requestedAt, 0) } : undefined;
  }
  if (!isIn(measure === 'requested' ? requestedAt : lastReviewedAt, period)) return undefined;
  return requestedAt === undefined || reviewedAt === undefined ? {} : { milliseconds: reviewedAt - requestedAt };
}

/** With fewer samples, a percentile is one of them. */
const FEW_SAMPLES = 5;

export function toDistribution(samples: readonly Sample[]): ReviewDistribution {
  const sorted = listDurations(samples).sort((a, b) => a - b);
  const fewSamples = sorted.length < FEW_SAMPLES;
  return {
    samples: sorted.length,
    fewSamples,
    ...(sorted.length > 0 && { medianSeconds: findPercentile(sorted, 50) }),
    ...(!fewSamples && { p75Seconds: findPercentile(sorted, 75), p90Seconds: findPercentile(sorted, 90) }),
  };
}

const listDurations = (samples: readonly Sample[]): number[] =>
  samples.flatMap(({ milliseconds }) => (milliseconds === undefined ? [] : [milliseconds]));

/** Interpolates linearly between the nearest ranks, as NumPy does by default. @param sorted Not empty. */
function findPercentile(sorted: readonly number[], percent: number): number {
  const rank = ((sorted.length - 1) * percent) / 100;
  const [low = 0, high = low] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return roundToSeconds(low + (high - low) * (rank - Math.floor(rank)));
}

export const roundToSeconds = (milliseconds: number): number => Math.round(milliseconds / 1000);

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** The starts of the ranges of histograms, in seconds. */
const BUCKETS = [0, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY, 30 * DAY];

export function toHistogram(samples: readonly Sample[]): Schemas['ReviewBucket'][] {
  const seconds = listDurations(samples).map(roundToSeconds);
  return BUCKETS.map((fromSeconds, index) => {
    const belowSeconds = BUCKETS[index + 1];
    const count = seconds.filter((one) => one >= fromSeconds && one < (belowSeconds ?? Infinity)).length;
    return { fromSeconds, ...(belowSeconds !== undefined && { belowSeconds }), count };
  });
}

/**
 * The times of a pull request's review, in milliseconds. Like github/issue-metrics, a review counts from the end of the
 * first draft on, and reviews of the author and of bots do not count.
 */
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
interface ReviewerTimes {
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
