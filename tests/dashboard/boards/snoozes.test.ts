import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

type Row = ReturnType<typeof pullRequest>;

const reference = { forge: 'github', fullName: 'acme/shop', number: 17 } as const;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let dashboard: TestDashboard;
let now: number;

beforeEach(async () => {
  now = Date.parse('2026-05-02T10:00:00Z');
  dashboard = await openDashboard({ now: () => now });
  await save({});
});
afterEach(() => dashboard.database.destroy());

const save = (...changes: readonly Partial<Row>[]) =>
  dashboard.boards.save(dashboard.ada.personId, {
    ...EMPTY_BOARD_SNAPSHOT,
    pullRequests: changes.map((change) => pullRequest(change)),
  });
const snooze = (until: number | undefined, untilChange = false) => {
  const end = until === undefined ? undefined : new Date(now + until);
  return dashboard.snoozes.save(dashboard.ada, { ...reference, until: end, untilChange });
};
const count = async () => {
  const { pullRequests, hiddenSnoozed } = await dashboard.boards.read(dashboard.ada, {});
  return [pullRequests.length, hiddenSnoozed];
};

describe('a snooze until a time', () => {
  test('ends at that time, and not earlier after changes', async () => {
    await snooze(MINUTE_MS);
    await save({ ci: 'failure', headSha: 'b' });
    now += MINUTE_MS - 1;
    expect(await count()).toEqual([0, 1]);
    now += 1;
    expect(await count()).toEqual([1, 0]);
  });

  test('changes the board version when it ends', async () => {
    await snooze(MINUTE_MS);
    const before = await dashboard.boards.findVersion(dashboard.ada.personId);
    expect(before?.endsAt).toBe(now + MINUTE_MS);
    now += MINUTE_MS;
    const after = await dashboard.boards.findVersion(dashboard.ada.personId);
    expect(after).toEqual({ id: expect.not.stringMatching(before!.id) as string, endsAt: Infinity });
  });

  test.each<[string, number | undefined, boolean]>([
    ['now', 0, false],
    ['in the past, even if a change would end it too', -1, true],
    ['in more than 366 days', 366 * DAY_MS + 1, false],
    ['never', undefined, false],
    ['at an invalid date', NaN, false],
  ])('is rejected if it ends %s', async (_when, until, untilChange) => {
    await expect(snooze(until, untilChange)).rejects.toMatchObject({ code: 'invalid_input', field: 'until' });
  });

  test('can last 366 days', async () => {
    await snooze(366 * DAY_MS);
    expect(await count()).toEqual([0, 1]);
  });
});

describe('a snooze until a change', () => {
  test('ends with the change, and does not resume if the change is undone', async () => {
    await snooze(undefined, true);
    await save({});
    expect(await count()).toEqual([0, 1]);
    await save({ ci: 'failure' });
    expect(await count()).toEqual([1, 0]);
    await save({});
    expect(await count()).toEqual([1, 0]);
  });

  test('ends at its time at the latest', async () => {
    await snooze(MINUTE_MS, true);
    now += MINUTE_MS;
    expect(await count()).toEqual([1, 0]);
  });

  test('ignores changes before the board on which it was set', async () => {
    await save({ ci: 'failure' });
    await snooze(undefined, true);
    await save({ ci: 'failure' });
    expect(await count()).toEqual([0, 1]);
  });
});

test('a new snooze replaces an earlier one of the same pull request', async () => {
  await snooze(undefined, true);
  await snooze(MINUTE_MS);
  const { pullRequests } = await dashboard.boards.read(dashboard.ada, { includeSnoozed: true });
  expect(pullRequests[0]?.snooze).toEqual({ until: new Date(now + MINUTE_MS).toISOString(), untilChange: false });
});

test('a snooze is deleted when its pull request leaves the board', async () => {
  await snooze(DAY_MS);
  await save();
  await save({});
  expect(await count()).toEqual([1, 0]);
  expect(await dashboard.database.selectFrom('snoozes').selectAll().execute()).toEqual([]);
});

test('a snooze does not affect pull requests with the same number in other repositories', async () => {
  await save({}, { repo: 'acme/attic' }, { forge: 'gitlab' });
  await snooze(DAY_MS);
  expect(await count()).toEqual([2, 1]);
});

test('a snoozed draft counts as a draft, unless drafts are included', async () => {
  await save({ draft: true });
  await snooze(DAY_MS);
  const read = (options: object) => dashboard.boards.read(dashboard.ada, options);
  expect(await read({})).toMatchObject({ hiddenDrafts: 1, hiddenSnoozed: 0, pullRequests: [] });
  expect(await read({ includeDrafts: true })).toMatchObject({ hiddenDrafts: 0, hiddenSnoozed: 1, pullRequests: [] });
});

test('section counts exclude snoozed pull requests', async () => {
  await save({}, { number: 18 });
  await snooze(DAY_MS);
  const { sections } = await dashboard.boards.read(dashboard.ada, {});
  expect(sections).toContainEqual({ section: 'ready_to_merge', count: 1 });
});

test('a snooze affects only the board of its own user', async () => {
  await dashboard.sharing.share(dashboard.ada, 'bob');
  await snooze(DAY_MS);
  const { pullRequests, hiddenSnoozed } = await dashboard.boards.read(dashboard.bob, { owner: 'ada' });
  expect([pullRequests.length, pullRequests[0]?.snooze, hiddenSnoozed]).toEqual([1, undefined, 0]);
  const bobs = dashboard.snoozes.save(dashboard.bob, { ...reference, untilChange: true });
  await expect(bobs).rejects.toMatchObject({ code: 'not_found' });
});
