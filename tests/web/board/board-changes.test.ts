import { countPullRequests, reuseRows } from '../../../src/web/app/board/board-changes.js';
import { toGroups } from '../../../src/web/app/board/groups.js';
import type { Board, PullRequest } from '../../../src/web/app/board/rows.js';
import { pullRequest as row } from '../../dashboard/pull-request.js';

const board = (...pullRequests: PullRequest[]) => ({ pullRequests, issues: [] }) as unknown as Board;
const one = row({ number: 1 });

test.each<[string, Board, Board, number]>([
  ['nothing', board(one), board({ ...one }), 0],
  ['a new row', board(one), board(one, row({ number: 2 })), 1],
  ['a row that is gone', board(one), board(), 1],
  ['one that is new and one that is gone', board(one), board(row({ number: 2 })), 2],
  ['a row whose checks failed', board(one), board({ ...one, ci: 'failure' }), 1],
  ['what no one sees of a row', board(one), board({ ...one, headSha: 'f' }), 0],
])('counts %s', (_what, before, after, expected) => {
  expect(countPullRequests(before, after)).toBe(expected);
});

test('rows that are the same stay the same object, so that they are not drawn again', () => {
  const other = { ...one, number: 2 };
  const { pullRequests } = reuseRows(board(one, other), board({ ...one }, { ...other, ci: 'failure' }));
  expect([pullRequests[0] === one, pullRequests[1] === other]).toEqual([true, false]);
});

test('sections come by urgency, whatever the order of rows, and empty ones not at all', () => {
  const rows = [row({ number: 1, section: 'drafts' }), row({ number: 2, section: 'needs_your_review' })];
  expect(toGroups(rows, 'section').map(({ name }) => name)).toEqual(['Needs your review', 'Drafts']);
  expect(toGroups(rows, 'none')).toEqual([{ name: '', rows }]);
});
