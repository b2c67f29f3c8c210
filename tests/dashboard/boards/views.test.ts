import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import type { View } from '../../../src/dashboard/boards/views.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
  const pullRequests = [
    pullRequest({ number: 1 }),
    pullRequest({ number: 2, ci: 'failure', section: 'returned_to_you' }),
    pullRequest({ number: 3, draft: true, section: 'drafts' }),
  ];
  await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
});
afterEach(() => dashboard.database.destroy());

const save = (filter: View['filter'], caller = dashboard.ada) =>
  dashboard.views.save(caller, { name: 'mine', filter, sort: 'board', group: 'none' });
const read = async (options: object = {}, caller = dashboard.ada) => {
  const board = await dashboard.boards.read(caller, { view: 'mine', ...options });
  return { ...board, numbers: board.pullRequests.map(({ number }) => number) };
};

test('a view: counts remain those of the whole board', async () => {
  await save({ ci: ['failure'] });
  const { numbers, sections, hiddenDrafts } = await read();
  expect([numbers, hiddenDrafts]).toEqual([[2], 1]);
  expect(sections.map(({ count }) => count)).toEqual([0, 1, 1, 0, 0]);
});

test('a view: changing it changes the selection at once', async () => {
  await save({ ci: ['failure'] });
  expect((await read()).numbers).toEqual([2]);
  await save({ ci: ['success'] });
  expect((await read()).numbers).toEqual([1]);
});

test.each<View['filter']>([{ sections: ['drafts'] }, { search: 'is:draft' }])(
  'a view: %j includes drafts',
  async (filter) => {
    await save(filter);
    expect(await read()).toMatchObject({ numbers: [3], hiddenDrafts: 0 });
  },
);

test('a view: a search for snoozed pull requests includes them', async () => {
  const snooze = { forge: 'github', fullName: 'acme/shop', number: 2, untilChange: true } as const;
  await dashboard.snoozes.save(dashboard.ada, { ...snooze, until: undefined });
  await save({});
  expect((await read()).numbers).toEqual([1]);
  await save({ search: 'is:snoozed' });
  expect(await read()).toMatchObject({ numbers: [2], hiddenSnoozed: 0 });
});

test('a view: an invalid term of its search is rejected, and the view stays as it is', async () => {
  await save({ search: 'ci:failure' });
  await expect(save({ search: 'ci:red' })).rejects.toMatchObject({
    code: 'invalid_input',
    field: 'filter.search',
    message: 'Expected ci: to be one of failure, none, pending, success; received "red".',
  });
  expect((await read()).numbers).toEqual([2]);
});

test("a view: the caller's own view applies to a shared board", async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  await save({ ci: ['failure'] });
  await save({ ci: ['success'] }, dashboard.bob);
  expect((await read({ owner: 'ada' }, dashboard.bob)).numbers).toEqual([1]);
});

test("reading a shared board: rejects the name of a view that only the board's owner has", async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  await save({});
  await expect(read({ owner: 'ada' }, dashboard.bob)).rejects.toMatchObject({ code: 'not_found', field: 'view' });
});

test('a view: filters by hours change over time without a refresh', async () => {
  await save({ updatedWithinHours: 2 });
  const updated = Date.parse(pullRequest().updatedAt);
  now = updated + 2 * 3_600_000;
  expect((await read()).numbers).toEqual([1, 2]);
  now += 1;
  expect((await read()).numbers).toEqual([]);
});

test('a view: its feeds remain when it is saved again, and are deleted with it', async () => {
  await save({ ci: ['failure'] });
  const { url } = await dashboard.feeds.create(dashboard.ada, { kind: 'badge', label: 'Mine', view: 'mine' });
  const token = url.split('/').at(-2)!;
  await save({ ci: ['success'] });
  expect((await dashboard.feeds.readBadge(token)).message).toBe('1');
  await dashboard.views.delete(dashboard.ada, 'mine');
  await expect(dashboard.feeds.readBadge(token)).rejects.toMatchObject({ code: 'not_found' });
});
