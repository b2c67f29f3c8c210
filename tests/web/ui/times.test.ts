import {
  dayFromNow,
  formatAge,
  formatDate,
  formatDay,
  formatRelativeTime,
  recordServerTime,
  serverNow,
  timezone,
  toMoment,
} from '../../../src/web/app/ui/times.js';

const NOW = Date.parse('2026-05-03T00:00:00Z');

test.each([
  ['2026-05-02T23:59:01Z', 'now'],
  ['2026-05-03T00:00:59Z', 'now'],
  ['2026-05-02T23:59:00Z', '1 minute ago'],
  ['2026-05-02T23:01:00+00:00', '59 minutes ago'],
  ['2026-05-02T23:00:00Z', '1 hour ago'],
  ['2026-05-01T00:00:01Z', '1 day ago'],
  ['2026-04-30T00:00:00Z', '3 days ago'],
  ['2026-03-01T00:00:00Z', '2 months ago'],
  ['2024-04-01T00:00:00Z', '2 years ago'],
  ['2026-05-03T00:12:30Z', 'in 12 minutes'],
])('formatRelativeTime: formats %s as “%s”', (time, age) => {
  expect(formatRelativeTime(time, NOW)).toBe(age);
});

test.each([
  [59_000, 'less than a minute ago'],
  [60_000, '1 minute ago'],
])('formatAge: formats an age of %i ms as “%s”', (ageMs, age) => {
  expect(formatAge(new Date(Date.now() - ageMs).toISOString())).toBe(age);
});

test('formatDay: formats the same day in every time zone', () => {
  const zones = ['Pacific/Auckland', 'Pacific/Honolulu', ''];
  const shown = zones.map((zone) => {
    timezone.value = zone;
    return formatDay('2026-03-29');
  });
  timezone.value = 'UTC';
  const expected = formatDate('2026-03-29T12:00:00Z');
  expect(shown).toEqual([expected, expected, expected]);
});

test.each([
  ['Asia/Tokyo', '2026-11-30', '07:00', '2026-11-29T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25', '00:00', '2026-10-24T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-26', '00:00', '2026-10-25T23:00:00.000Z'],
  // Shown twice, before and after clocks are put back, and never, as clocks are put forward.
  ['Europe/Berlin', '2026-10-25', '02:30', '2026-10-25T00:30:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '02:30', '2026-03-29T01:30:00.000Z'],
  ['America/Santiago', '2026-09-06', '00:00', '2026-09-06T04:00:00.000Z'],
  ['America/Santiago', '2026-09-07', '00:00', '2026-09-07T03:00:00.000Z'],
  ['Pacific/Auckland', '2027-01-01', '00:00', '2026-12-31T11:00:00.000Z'],
  ['UTC', '0002-05-05', '00:00', '0002-05-05T00:00:00.000Z'],
])('toMoment: in %s, %s %s is %s', (zone, day, time, moment) => {
  timezone.value = zone;
  expect(toMoment(day, time).toISOString()).toBe(moment);
});

test('dayFromNow: counts from the day of the user and of the server', () => {
  try {
    const serverTime = Date.parse('2026-12-31T12:00:00Z');
    recordServerTime(new Response(null, { headers: { Date: new Date(serverTime).toUTCString() } }));
    expect(Math.abs(serverNow() - serverTime)).toBeLessThan(60_000);
    const days = ['Pacific/Auckland', 'Pacific/Honolulu'].map((zone) => {
      timezone.value = zone;
      return dayFromNow(1);
    });
    expect(days).toEqual(['2027-01-02', '2027-01-01']);
  } finally {
    recordServerTime(new Response(null, { headers: { Date: new Date().toUTCString() } }));
  }
  expect(Math.abs(serverNow() - Date.now())).toBeLessThan(1_000);
});
