import '../../seed.js';
import fc from 'fast-check';
import type { PullRequestHistory } from '../../../src/dashboard/forges/history.js';
import {
  listSamples,
  toDistribution,
  toHistogram,
  findReviewTimes,
} from '../../../src/dashboard/insights/review-measures.js';

const START = Date.parse('2026-05-01T00:00:00Z');
const MINUTE_MS = 60_000;
const iso = (minute: number): string => new Date(START + minute * MINUTE_MS).toISOString();

const minute = fc.integer({ min: 1, max: 100_000 });
const event = fc.record({
  kind: fc.constantFrom('approved' as const, 'reviewed' as const, 'requested' as const, 'request_removed' as const),
  minute,
  login: fc.constantFrom('mona', 'Mona', 'lisa', 'joe', 'ci'),
});

/** A pull request with its draft from the start, or none, and random reviews, as plain numbers of minutes. */
const plain = fc.record({
  readyAt: fc.option(minute, { nil: undefined }),
  mergedAt: fc.option(minute, { nil: undefined }),
  events: fc.uniqueArray(event, { maxLength: 12, selector: (one) => one.minute }),
});
type Plain = typeof plain extends fc.Arbitrary<infer T> ? T : never;

const toHistory = ({ readyAt, mergedAt, events }: Plain): PullRequestHistory => ({
  ...{ number: 1, title: 'Round taxes', url: 'https://forge.example/1', author: 'mona', authorIsBot: false },
  ...{ isDraft: false, createdAt: iso(0), updatedAt: iso(200_000) },
  ...(mergedAt !== undefined && { mergedAt: iso(mergedAt), closedAt: iso(mergedAt) }),
  events: [
    ...events.map(({ kind, login, ...one }) => ({ kind, at: iso(one.minute), login, isBot: login === 'ci' })),
    ...(readyAt === undefined ? [] : [{ kind: 'ready' as const, at: iso(readyAt) }]),
  ],
});

/** Evaluates the definitions one by one, in minutes. */
function evaluate({ readyAt: ready, mergedAt, events }: Plain) {
  const start = ready ?? 0;
  const counted = events.filter(
    (one) => ['lisa', 'joe'].includes(one.login) && one.minute <= (mergedAt ?? Infinity) && one.minute >= start,
  );
  const reviews = counted.filter(({ kind }) => kind === 'reviewed' || kind === 'approved');
  const approvals = counted.filter(({ kind }) => kind === 'approved').map((one) => one.minute);
  const first = reviews.length === 0 ? undefined : Math.min(...reviews.map((one) => one.minute));
  const approved = approvals.length === 0 ? undefined : Math.max(...approvals);
  const span = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? [] : [Math.max(to - from, 0)];
  return {
    first_review: span(start, first),
    cycle: span(0, mergedAt),
    review_wait: mergedAt === undefined ? [] : span(start, first),
    in_review: mergedAt === undefined ? [] : span(first, approved ?? mergedAt),
    merge_wait: span(approved, mergedAt),
    waiting: mergedAt === undefined && first === undefined ? span(start, 200_000) : [],
  };
}

const measured = (history: PullRequestHistory) => ({
  ...{ forge: 'github' as const, repo: 'acme/shop', number: 1, title: '', url: '', author: history.author },
  isDraft: history.isDraft,
  times: findReviewTimes(history),
});

const PERIOD = { from: START, to: START + 200_000 * MINUTE_MS };

test('review times: equal those of a plain evaluator on random pull requests', () => {
  fc.assert(
    fc.property(plain, (one) => {
      for (const [name, minutes] of Object.entries(evaluate(one))) {
        const samples = listSamples([measured(toHistory(one))], name as 'cycle', PERIOD);
        expect([name, samples.map(({ milliseconds = NaN }) => milliseconds / MINUTE_MS)]).toEqual([name, minutes]);
      }
    }),
    { numRuns: 500 },
  );
});

test('review times: a pull request that has always been a draft does not wait', () => {
  const draft = { ...toHistory({ readyAt: undefined, mergedAt: undefined, events: [] }), isDraft: true };
  expect(findReviewTimes(draft).readyAt).toBeUndefined();
  expect(listSamples([measured(draft)], 'waiting', PERIOD)).toEqual([]);
});

test('review times: a new request after a review starts a new wait, and a removed one ends it', () => {
  const lisa = (kind: 'approved' | 'request_removed' | 'requested' | 'reviewed', at: number) => ({
    ...{ kind, login: 'lisa' as const },
    minute: at,
  });
  const read = (...events: Plain['events']) => {
    const history = toHistory({ readyAt: undefined, mergedAt: undefined, events });
    return ['requested', 'given', 'pending'].map((name) =>
      listSamples([measured(history)], name as 'pending', PERIOD).map(({ milliseconds }) =>
        milliseconds === undefined ? 'none' : milliseconds / MINUTE_MS,
      ),
    );
  };
  expect(read(lisa('requested', 10), lisa('requested', 20), lisa('reviewed', 40))).toEqual([[30], [30], []]);
  expect(read(lisa('reviewed', 5))).toEqual([[], ['none'], []]);
  expect(read(lisa('requested', 10), lisa('reviewed', 40), lisa('requested', 50))).toEqual([
    ['none'],
    ['none'],
    [199_950],
  ]);
  expect(read(lisa('requested', 10), lisa('request_removed', 20))).toEqual([[], [], []]);
});

test.each([
  ['no samples', [], { samples: 0, fewSamples: true }],
  ['few samples', [60, 120], { samples: 2, fewSamples: true, medianSeconds: 90 }],
  // numpy.percentile([1, 2, 4, 8, 16], [50, 75, 90]) is [4, 8, 12.8].
  [
    'five samples',
    [16, 1, 8, 2, 4],
    { samples: 5, fewSamples: false, medianSeconds: 4, p75Seconds: 8, p90Seconds: 13 },
  ],
])('toDistribution: interpolates percentiles of %s', (_reason, seconds, expected) => {
  const [pullRequest] = [measured(toHistory({ readyAt: undefined, mergedAt: undefined, events: [] }))];
  const samples = seconds.map((one) => ({ pullRequest, milliseconds: one * 1000 }));
  expect(toDistribution(samples)).toEqual(expected);
  expect(toHistogram(samples)[0]).toEqual({ fromSeconds: 0, belowSeconds: 3600, count: seconds.length });
});
