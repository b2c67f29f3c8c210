import { formatDate, formatDay, formatRelativeTime, timezone } from '../../../src/web/app/ui/times.js';

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

test('formatDay: formats the same day in every time zone', () => {
  const zones = ['Pacific/Auckland', 'Pacific/Honolulu', ''];
  const shown = zones.map((zone) => {
    timezone.value = zone;
    return formatDay('2026-03-29');
  });
  const expected = formatDate('2026-03-29T12:00:00Z');
  expect(shown).toEqual([expected, expected, expected]);
});
