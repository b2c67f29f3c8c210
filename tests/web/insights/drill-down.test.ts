import { parse } from 'csv-parse/sync';
import type { Board } from '../../../src/web/app/board/data/rows.js';
import { findRows, toCsv } from '../../../src/web/app/insights/chart-data.js';
import { pullRequest } from '../../dashboard/pull-request.js';

const board = {
  pullRequests: [
    pullRequest({ number: 1, ci: 'failure', createdAt: '2026-05-02T00:00:00Z' }),
    pullRequest({ number: 2, ci: 'failure', createdAt: '2026-05-01T00:00:00Z' }),
    pullRequest({ number: 3, ci: 'success' }),
    pullRequest({ number: 4, ci: 'failure', repo: 'acme/docs' }),
  ],
  issues: [{ ...pullRequest({ number: 5 }), housekeeping: true }],
} as unknown as Board;

const numbers = (chart: string, group = '', part = '') =>
  findRows(board, { chart, group, part })?.rows.map(({ number }) => number);

test('findRows: finds the rows of a chart, of a bar and of a part, oldest first', () => {
  expect(numbers('ci', 'acme/shop (GitHub)', 'Failing')).toEqual([2, 1]);
  expect(numbers('ci', 'acme/docs (GitHub)')).toEqual([4]);
  expect(numbers('open')).toHaveLength(4);
  expect(numbers('issues')).toEqual([]);
  expect(numbers('age', 'no such age')).toEqual([]);
  expect(numbers('nope')).toBeUndefined();
  expect(numbers('constructor')).toBeUndefined();
});

test.each(['＝1+1', '＋1', '－1', '＠sum'])(
  'toCsv: writes %s, which spreadsheets read as a formula, as text',
  (title) => {
    expect(toCsv(['Title'], [[title]])).toBe(`Title\r\n'${title}\r\n`);
  },
);

test('toCsv: writes rows that a CSV reader returns unchanged, and no formulas', () => {
  const rows = [
    ['a,b', 'say "hi"', 'two\r\nlines', ''],
    ['=HYPERLINK("x")', '-1.5', '-x', '@y'],
  ];
  expect(parse(toCsv(['1', '2', '3', '4'], rows), { from: 2 })).toEqual([
    rows[0],
    [`'=HYPERLINK("x")`, '-1.5', "'-x", "'@y"],
  ]);
});
