import { addDays, listUnitStarts, startOfUnit, toDayInZone } from '../../../src/dashboard/insights/throughput.js';

test.each([
  ['UTC', '2026-05-02'],
  ['Pacific/Auckland', '2026-05-03'],
  ['Asia/Kolkata', '2026-05-03'],
  ['America/New_York', '2026-05-02'],
])('toDayInZone: in %s, the time is on %s', (zone, day) => {
  expect(toDayInZone(Date.parse('2026-05-02T18:45:00Z'), zone)).toBe(day);
});

test('addDays: crosses the ends of months and years', () => {
  expect([addDays('2026-12-31', 1), addDays('2028-03-01', -1)]).toEqual(['2027-01-01', '2028-02-29']);
});

test.each([
  ['2026-05-04', '2026-05-04'],
  ['2026-05-10', '2026-05-04'],
  ['2026-05-11', '2026-05-11'],
])('startOfUnit: the week of %s starts on Monday, %s', (day, monday) => {
  expect(startOfUnit(day, 'week')).toBe(monday);
});

test('listUnitStarts: lists days, and whole weeks', () => {
  const span = { from: '2026-05-10', to: '2026-05-12' };
  expect(listUnitStarts(span, 'day')).toEqual(['2026-05-10', '2026-05-11', '2026-05-12']);
  expect(listUnitStarts(span, 'week')).toEqual(['2026-05-04', '2026-05-11']);
});
