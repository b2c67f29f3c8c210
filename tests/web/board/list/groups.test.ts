import { BLOCK_SIZE, toBlocks, toGroups } from '../../../../src/web/app/board/filter/filter.js';
import { pullRequest as row } from '../../../dashboard/pull-request.js';

const group = (name: string, count: number) => ({
  name,
  rows: Array.from({ length: count }, (_none, number) => row({ number: number + 1 })),
});
const sizes = (drawn: number) =>
  toBlocks([group('first', BLOCK_SIZE + 5), group('second', 3)], drawn).map(({ name, blocks }) => [
    name,
    ...blocks.map(({ rows }) => rows.length),
  ]);

test.each([
  ['only the first rows of a group', 8, [['first', 8]]],
  ['a full block and a part of the next', BLOCK_SIZE + 2, [['first', BLOCK_SIZE, 2]]],
  ['no group without drawn rows', BLOCK_SIZE + 5, [['first', BLOCK_SIZE, 5]]],
  [
    'the next group',
    BLOCK_SIZE + 6,
    [
      ['first', BLOCK_SIZE, 5],
      ['second', 1],
    ],
  ],
  [
    'at most all rows',
    1000,
    [
      ['first', BLOCK_SIZE, 5],
      ['second', 3],
    ],
  ],
])('toBlocks: returns %s', (_what, drawn, expected) => {
  expect(sizes(drawn)).toEqual(expected);
});

test('toBlocks: keeps the order of rows and marks the blocks below the first screen as far', () => {
  const all = group('all', 3 * BLOCK_SIZE);
  const [drawn] = toBlocks([all], 3 * BLOCK_SIZE);
  expect(drawn?.blocks.map(({ isFar }) => isFar)).toEqual([false, false, true]);
  expect(drawn?.blocks.flatMap(({ rows }) => rows)).toEqual(all.rows);
});

test('toGroups: sorts sections by urgency and omits empty ones', () => {
  const rows = [row({ number: 1, section: 'drafts' }), row({ number: 2, section: 'needs_your_review' })];
  expect(toGroups(rows, 'section').map(({ name }) => name)).toEqual(['Needs your review', 'Drafts']);
  expect(toGroups(rows, 'none')).toEqual([{ name: '', rows }]);
});
