import { findNextDigest, findQuietEnd } from '../../../src/dashboard/notifications/preferences.js';

const BERLIN = 'Europe/Berlin';
const toTime = (milliseconds: number | undefined) =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
const quietEnd = (from: string, to: string, at: string, timezone = BERLIN) =>
  toTime(findQuietEnd({ from, to }, { at: Date.parse(at), timezone }));

test.each([
  ['in the evening', '2026-05-01T20:30:00Z', '2026-05-02T05:00:00.000Z'],
  ['in the morning', '2026-05-02T04:59:59Z', '2026-05-02T05:00:00.000Z'],
  ['at their end', '2026-05-02T05:00:00Z', undefined],
  ['at noon', '2026-05-02T10:00:00Z', undefined],
  ['in the night in which clocks go forward', '2026-03-28T23:00:00Z', '2026-03-29T05:00:00.000Z'],
  ['in the night in which clocks go back', '2026-10-24T22:00:00Z', '2026-10-25T06:00:00.000Z'],
])('quiet hours from 22:00 to 07:00: %s', (_when, at, expected) => {
  expect(quietEnd('22:00', '07:00', at)).toBe(expected);
});

test('quiet hours: within one day', () => {
  expect(quietEnd('12:00', '13:00', '2026-05-01T10:30:00Z')).toBe('2026-05-01T11:00:00.000Z');
  expect(quietEnd('12:00', '13:00', '2026-05-01T12:30:00Z')).toBeUndefined();
});

test('quiet hours: a time that the day skips is the later one', () => {
  // At 02:00, clocks in Berlin are set to 03:00.
  expect(quietEnd('01:00', '02:30', '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:30:00.000Z');
});

test('quiet hours: none, also with the same time twice, as they would never end', () => {
  expect(findQuietEnd(undefined, { at: 0, timezone: BERLIN })).toBeUndefined();
  expect(quietEnd('08:00', '08:00', '2026-05-01T10:00:00Z')).toBeUndefined();
});

const next = (weekdays: number[], at: string, timezone = BERLIN) =>
  toTime(findNextDigest({ at: '08:00', weekdays }, { at: Date.parse(at), timezone }));

test.each([
  ['later today', [5], '2026-05-01T05:00:00Z', '2026-05-01T06:00:00.000Z'],
  ['in a week, at its time', [5], '2026-05-01T06:00:00Z', '2026-05-08T06:00:00.000Z'],
  ['after the weekend', [1, 2, 3, 4, 5], '2026-05-01T10:00:00Z', '2026-05-04T06:00:00.000Z'],
  ['after clocks go back', [7], '2026-10-24T10:00:00Z', '2026-10-25T07:00:00.000Z'],
])('the digest at 08:00: %s', (_when, weekdays, at, expected) => {
  expect(next(weekdays, at)).toBe(expected);
});

test('the digest: of a user in another time zone', () => {
  expect(next([1, 2, 3, 4, 5, 6, 7], '2026-05-01T00:00:00Z', 'America/Los_Angeles')).toBe('2026-05-01T15:00:00.000Z');
});
