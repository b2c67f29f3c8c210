import { nextRetryAt, nextPollAt, quotaPauseUntil } from '../../../src/dashboard/refresh/forge-status.js';

const NOW = Date.parse('2026-05-02T08:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const budget = (remaining: number, resetsInMs = 10 * MINUTE) => ({
  limit: 5000,
  remaining,
  resetsAt: new Date(NOW + resetsInMs).toISOString(),
});

test.each([
  ['no quota is known', {}, 0],
  ['a twentieth remains', { graphql: budget(250) }, 0],
  ['less than a twentieth remains', { graphql: budget(249) }, 10 * MINUTE + 30_000],
  ['one of two quotas is low', { graphql: budget(5000), rest: budget(0) }, 10 * MINUTE + 30_000],
  ['both quotas are low', { graphql: budget(1), rest: budget(1, 20 * MINUTE) }, 20 * MINUTE + 30_000],
  ['the quota has been reset since', { graphql: budget(0, -1) }, 0],
  ['the reset is far in the future', { rest: budget(0, 24 * HOUR) }, HOUR],
])('quotaPauseUntil: returns the end of the pause when %s', (_reason, budgets, wait) => {
  expect(quotaPauseUntil(budgets, NOW)).toBe(wait === 0 ? 0 : NOW + wait);
});

test.each([
  ['just now', 0, MINUTE],
  ['10 minutes ago', 10 * MINUTE, MINUTE],
  ['an hour ago', HOUR, 6 * MINUTE],
  ['a day ago', 24 * HOUR, 20 * MINUTE],
])('nextPollAt: changes pending since %s are read again after a growing delay', (_reason, ago, wait) => {
  expect(nextPollAt({ read_at: NOW, changed_at: NOW - ago, is_unsettled: 1 })).toBe(NOW + wait);
});

test('nextPollAt: merge statuses that the forge is computing are read again after seconds', () => {
  expect(nextPollAt({ read_at: NOW, changed_at: NOW - HOUR, is_unsettled: 2 })).toBe(NOW + 4_000);
});

test.each([
  ['for the first time', { kind: 'unreachable', failures: 1, resetsAt: undefined }, MINUTE],
  ['for the third time', { kind: 'unknown', failures: 3, resetsAt: undefined }, 4 * MINUTE],
  ['for days', { kind: 'unreachable', failures: 500, resetsAt: undefined }, HOUR],
  ['with a rate limit', { kind: 'rate_limited', failures: 1, resetsAt: NOW + 10 * MINUTE }, 10 * MINUTE + 30_000],
  ['with an excessive rate limit', { kind: 'rate_limited', failures: 1, resetsAt: NOW + 48 * HOUR }, HOUR],
] as const)('retryAt: a forge that failed %s is retried', (_reason, failure, wait) => {
  expect(nextRetryAt(failure, NOW)).toBe(NOW + wait);
});

test.each(['unauthorized', 'not_found'] as const)(
  'retryAt: a forge that failed with %s is not retried automatically',
  (kind) => {
    expect(nextRetryAt({ kind, failures: 1, resetsAt: undefined }, NOW)).toBeUndefined();
  },
);
