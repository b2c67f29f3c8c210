import {
  toColumns,
  describeColumn,
  splitKnownRuns,
  findScaleTop,
  sumColumns,
} from '../../../src/web/app/insights/throughput-data.js';

const counted = (start: string, opened: number, left: number, open?: number) => ({ start, opened, left, open });
const throughput = (per: 'day' | 'week', periods: ReturnType<typeof counted>[]) => ({ timezone: 'UTC', per, periods });

test('toColumns: adds empty columns for days before the first data', () => {
  const columns = toColumns(throughput('day', [counted('2026-05-01', 2, 1, 7)]), { days: 30 });
  expect(columns).toHaveLength(30);
  expect(columns.slice(-2)).toEqual([
    { start: '2026-04-30', opened: 0, left: 0, isCounted: false },
    { start: '2026-05-01', opened: 2, left: 1, open: 7, isCounted: true },
  ]);
});

test('toColumns: adds empty weeks and keeps every week that the server returns', () => {
  const columns = toColumns(throughput('week', [counted('2026-05-04', 0, 0)]), { days: 90 });
  expect([columns.length, columns.at(-2)?.start, columns[0]?.start]).toEqual([13, '2026-04-27', '2026-02-09']);
  const weeks = Array.from({ length: 14 }, () => counted('2026-05-04', 1, 0));
  expect(toColumns(throughput('week', weeks), { days: 90 })).toHaveLength(14);
});

test('toColumns: returns no columns without data', () => {
  expect(toColumns(throughput('day', []), { days: 30 })).toEqual([]);
});

const columns = toColumns(
  throughput('day', [counted('2026-05-01', 2, 1, 7), counted('2026-05-02', 0, 3), counted('2026-05-03', 4, 0, 8)]),
  { days: 3 },
);

test('sumColumns: sums all columns and takes the open count of the last column that has one', () => {
  expect(sumColumns(columns)).toEqual({ opened: 6, left: 4, open: 8 });
  expect(sumColumns(columns.slice(0, 2))).toEqual({ opened: 2, left: 4, open: 7 });
});

test('splitKnownRuns: splits the line at columns without an open count', () => {
  expect(splitKnownRuns(columns)).toEqual([[[0, 7]], [[2, 8]]]);
});

test('describeColumn: describes a column in words', () => {
  expect(columns.map(describeColumn)).toEqual([
    '2 opened, 1 closed, 7 open',
    '0 opened, 3 closed, open count unknown',
    '4 opened, 0 closed, 8 open',
  ]);
  expect(describeColumn({ start: '2026-04-30', opened: 0, left: 0, isCounted: false })).toBe('no data yet');
});

test.each([
  [[], 1],
  [[0, 1], 1],
  [[7], 8],
  [[9], 10],
  [[11], 12],
  [[118, 3], 120],
  [[121], 150],
  [[999], 1000],
])('findScaleTop: the scale for %j ends at %i', (numbers, top) => {
  expect(findScaleTop(numbers)).toBe(top);
});
