import { prepareSnapshot, renderBoard } from '../../../src/dashboard/boards/board.js';
import { listsAll, toFirstRows } from '../../../src/dashboard/boards/first-rows.js';
import { SECTIONS } from '../../../src/dashboard/forges/sections.js';
import { applyFilter, isPlainList, NO_FILTER, toGroups } from '../../../src/web/app/board/filter/filter.js';
import { issue, pullRequest, repo } from '../pull-request.js';

const NOON = Date.parse('2026-05-01T12:00:00Z');

/** A board with rows of every section in turn, of which every seventh is snoozed and every fifth has failing CI. */
function boardOf(count: number) {
  const pullRequests = Array.from({ length: count }, (_none, index) =>
    pullRequest({
      number: index + 1,
      section: SECTIONS[(index * 3) % SECTIONS.length]!,
      ci: index % 5 === 0 ? 'failure' : 'success',
      updatedAt: new Date(NOON - ((index * 37) % count) * 60_000).toISOString(),
    }),
  );
  const repos = [repo(), repo({ fullName: 'far/away', yoursOnly: true })];
  const snapshot = prepareSnapshot({ forges: [], pullRequests, issues: [issue()], repos, autoMerged: [] });
  const options = { generatedAt: NOON, at: NOON, includeDrafts: true, includeSnoozed: true };
  const board = renderBoard(snapshot, options);
  const snooze = { until: new Date(NOON + 60_000).toISOString(), untilChange: false };
  return {
    ...board,
    pullRequests: board.pullRequests.map((row) => (row.number % 7 === 0 ? { ...row, snooze } : row)),
  };
}

test.each([1, 40, 200])('the first rows of %i are those that the page lists first', (count) => {
  const board = boardOf(count);
  const listed = board.pullRequests.filter(({ snooze }) => !snooze);
  const groups = toGroups(applyFilter(listed, NO_FILTER, NOON), 'section');
  const first = toFirstRows(board);
  expect(first.board.pullRequests).toEqual(groups.flatMap(({ rows }) => rows).slice(0, 50));
  expect(first.board).toMatchObject({ issues: [], repos: [], sections: board.sections });
  const total = (section: string): number => listed.filter((row) => row.section === section).length;
  expect(first.counts).toEqual({
    open: count,
    failing: Math.ceil(count / 5),
    repositories: 1,
    snoozed: Math.floor(count / 7),
    sections: Object.fromEntries(SECTIONS.map((section) => [section, total(section)])),
  });
});

test('the page and the server agree on the filters that list all rows', () => {
  for (const filter of [NO_FILTER, { ...NO_FILTER, drafts: true, size: '' }]) {
    expect([listsAll({ ...filter }), isPlainList(filter)]).toEqual([true, true]);
  }
  const selecting = Object.keys(NO_FILTER).filter((name) => !['drafts', 'size'].includes(name));
  for (const name of selecting) {
    const filter = { ...NO_FILTER, [name]: name === 'snoozed' ? true : 'other' };
    expect([name, listsAll(filter), isPlainList(filter)]).toEqual([name, false, false]);
  }
  expect(listsAll({})).toBe(true);
});
