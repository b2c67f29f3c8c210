import {
  describeRows,
  formatSpan,
  toExportAddress,
  toRangeBars,
  toReviewScope,
  toRowsQuery,
} from '../../../src/web/app/insights/reviews-data.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const none = { measure: '', reviewer: '', atLeastSeconds: '', belowSeconds: '' };
const scope = { days: 30 };

test.each([
  [0, 'under 1 min'],
  [59, 'under 1 min'],
  [60, '1 min'],
  [HOUR - 1, '59 min'],
  [HOUR, '1 h'],
  [4 * HOUR + 36 * 60, '4 h 36 min'],
  [23 * HOUR + 59 * 60, '23 h'],
  [DAY, '1 d'],
  [2 * DAY + 2 * HOUR, '2 d 2 h'],
  [45 * DAY + 2 * HOUR, '45 d'],
])('formatSpan: formats %d seconds as %s', (seconds, text) => {
  expect(formatSpan(seconds)).toBe(text);
});

test('toRangeBars: names ranges of hours and of days, and the open one', () => {
  const histogram = [
    { fromSeconds: 0, belowSeconds: HOUR, count: 1 },
    { fromSeconds: 12 * HOUR, belowSeconds: DAY, count: 2 },
    { fromSeconds: DAY, belowSeconds: 2 * DAY, count: 3 },
    { fromSeconds: 30 * DAY, count: 4 },
  ];
  expect(toRangeBars({ histogram }).map(({ label, parts }) => [label, ...parts])).toEqual([
    ['under 1 h', 1],
    ['12 to 24 h', 2],
    ['1 to 2 d', 3],
    ['30 d or more', 4],
  ]);
});

test('toReviewScope: limits the period to the stored days, and accepts repositories of known forges only', () => {
  const from = (repository: string, days = 30) => toReviewScope({ days, owner: '', repository });
  expect(from('', 365)).toEqual({ days: 90 });
  expect(from('gitlab/group/part/site')).toEqual({ days: 30, forge: 'gitlab', repo: 'group/part/site' });
  for (const other of ['acme/shop', 'github', 'github/', 'github/shop', 'constructor/acme/shop']) {
    expect(from(other)).toEqual({ days: 30 });
  }
  expect(toReviewScope({ days: 30, owner: 'lisa', repository: '' })).toEqual({ days: 30, owner: 'lisa' });
});

test('toRowsQuery: reads the figure from the address, without values that the API would reject', () => {
  const given = { ...none, measure: 'given', reviewer: 'github/lisa' };
  expect(toRowsQuery(scope, given)).toEqual({ ...scope, forge: 'github', measure: 'given', reviewer: 'lisa' });
  const range = { ...none, measure: 'cycle', atLeastSeconds: '3600', belowSeconds: '14400' };
  const query = toRowsQuery(scope, range)!;
  expect(query).toEqual({ ...scope, measure: 'cycle', atLeastSeconds: HOUR, belowSeconds: 4 * HOUR });
  expect(describeRows(query)).toBe('Cycle time · 1 to 4 h');
  expect(toExportAddress(query)).toBe(
    '/api/insights/reviews/export?days=30&measure=cycle&atLeastSeconds=3600&belowSeconds=14400',
  );
  const invalid = { ...range, atLeastSeconds: '-1', belowSeconds: '1e9', reviewer: 'nobody' };
  expect(toRowsQuery(scope, invalid)).toEqual({ ...scope, measure: 'cycle' });
  expect(toRowsQuery(scope, none)).toBeUndefined();
  expect(toRowsQuery(scope, { ...none, measure: 'toString' })).toBeUndefined();
});
