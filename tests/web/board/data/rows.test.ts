import { type Board, countPullRequests, type PullRequest, reuseRows } from '../../../../src/web/app/board/data/rows.js';
import { pullRequest as row } from '../../../dashboard/pull-request.js';

const board = (...pullRequests: PullRequest[]) => ({ pullRequests, issues: [] }) as unknown as Board;
const one = row({ number: 1 });

test.each<[string, Board, Board, number]>([
  ['an unchanged board', board(one), board({ ...one }), 0],
  ['an added row', board(one), board(one, row({ number: 2 })), 1],
  ['a removed row', board(one), board(), 1],
  ['an added and a removed row', board(one), board(row({ number: 2 })), 2],
  ['a row whose checks failed', board(one), board({ ...one, ci: 'failure' }), 1],
  ['a change that rows do not show', board(one), board({ ...one, headSha: 'f' }), 0],
])('countPullRequests: counts %s', (_what, before, after, expected) => {
  expect(countPullRequests(before, after)).toBe(expected);
});

test('reuseRows: keeps the objects of unchanged rows, so that they are not redrawn', () => {
  const other = { ...one, number: 2 };
  const { pullRequests } = reuseRows(board(one, other), board({ ...one }, { ...other, ci: 'failure' }));
  expect([pullRequests[0] === one, pullRequests[1] === other]).toEqual([true, false]);
});
