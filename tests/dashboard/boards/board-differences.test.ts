import fc from 'fast-check';
import { applyBoardChange } from '../../../src/board-stream/read-boards.js';
import { type BoardChange, outlineOf, toBoardChange } from '../../../src/dashboard/boards/board-differences.js';
import type { BoardChangeEvent } from '../../../src/dashboard/boards/board-streams.js';
import {
  type Board,
  type BoardSnapshot,
  EMPTY_BOARD_SNAPSHOT,
  prepareSnapshot,
  renderBoard,
} from '../../../src/dashboard/boards/board.js';
import { issue, pullRequest, repo } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

const render = (snapshot: Partial<BoardSnapshot>, at = 1_777_717_800_000): Board =>
  renderBoard(prepareSnapshot({ ...EMPTY_BOARD_SNAPSHOT, ...snapshot }), {
    ...{ generatedAt: at, at, includeDrafts: true, includeSnoozed: true },
  });

const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Sends a board as its difference from an earlier one, as JSON, and applies it. */
function transfer(board: Board, earlier: Board): { readonly change: BoardChange; readonly result: Board } {
  const change = asJson(toBoardChange(board, { id: 'e1', outline: outlineOf(earlier) }));
  return { change, result: applyBoardChange({ id: 'e1', data: asJson(earlier) }, change) };
}

const numbers = (max: number) => fc.uniqueArray(fc.integer({ min: 1, max }), { maxLength: 12 });

/** Boards with few different rows, so that rows are often kept, moved, changed, added and removed. */
const boards = fc
  .record({
    pullRequests: numbers(14).chain((list) =>
      fc.tuple(
        ...list.map((number) =>
          fc.record({
            number: fc.constant(number),
            title: fc.constantFrom('a', 'b'),
            updatedAt: fc.constantFrom('2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z', '2026-05-03T00:00:00Z'),
            draft: fc.boolean(),
          }),
        ),
      ),
    ),
    issues: numbers(5),
    repos: fc.uniqueArray(fc.constantFrom('acme/a', 'acme/b', 'acme/c'), { maxLength: 3 }),
    forges: fc.subarray([{ forge: 'github' as const, reachable: true, repoCount: 1, truncated: false }]),
    further: fc.boolean(),
    at: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ pullRequests, issues, repos, forges, further, at }) =>
    render(
      {
        pullRequests: pullRequests.map((row) => pullRequest(row)),
        issues: issues.map((number) => issue({ number })),
        repos: repos.map((fullName) => repo({ fullName })),
        forges,
        ...(further && { furtherForges: forges }),
      },
      at * 60_000,
    ),
  );

test('a difference gives exactly the board that the whole event would have given', () => {
  let differences = 0;
  fc.assert(
    fc.property(boards, boards, (earlier, board) => {
      const { change, result } = transfer(board, earlier);
      if (!('board' in change)) differences += 1;
      expect(result).toEqual(asJson(board));
    }),
    { numRuns: 500 },
  );
  expect(differences).toBeGreaterThan(50);
});

test('a difference of one row among many has only this row, and the places of the others', () => {
  const rows = Array.from({ length: 100 }, (_, index) => pullRequest({ number: index + 1 }));
  const changed = rows.map((row) => (row.number === 50 ? { ...row, title: 'New title' } : row));
  const { change, result } = transfer(render({ pullRequests: changed }), render({ pullRequests: rows }));
  expect(change).toEqual({
    from: 'e1',
    set: {},
    pullRequests: [{ start: 0, count: 49 }, { rows: [changed[49]] }, { start: 50, count: 50 }],
  });
  expect(result.pullRequests).toEqual(changed);
});

test.each<[string, Partial<BoardSnapshot>, Partial<BoardSnapshot>]>([
  [
    'of which more than half is new',
    { pullRequests: [pullRequest({ title: 'new' })] },
    { pullRequests: [pullRequest()] },
  ],
  ['after an empty one', { pullRequests: [pullRequest()] }, {}],
])('a board %s is sent as a whole', (_case, board, earlier) => {
  expect(transfer(render(board), render(earlier)).change).toHaveProperty('board');
});

test('a member that the board no longer has is unset', () => {
  const forges = [{ forge: 'github' as const, reachable: true, repoCount: 1, truncated: false }];
  const { change, result } = transfer(render({}), render({ furtherForges: forges }));
  expect([change, result]).toEqual([{ from: 'e1', set: {}, unset: ['furtherForges'] }, render({})]);
});

test('equal rows remain the same objects', () => {
  const earlier = asJson(render({ pullRequests: [1, 2, 3, 4].map((number) => pullRequest({ number })) }));
  const change = {
    from: 'e1',
    set: {},
    pullRequests: [
      { start: 2, count: 2 },
      { start: 0, count: 1 },
    ],
  };
  const [third, fourth, first] = applyBoardChange({ id: 'e1', data: earlier }, change).pullRequests;
  expect([third === earlier.pullRequests[2], fourth === earlier.pullRequests[3]]).toEqual([true, true]);
  expect(first).toBe(earlier.pullRequests[0]);
});

test.each([
  ['a different event', { id: 'e0', data: render({}) }],
  ['no event', undefined],
])('a difference is rejected after %s', (_case, earlier) => {
  expect(() => applyBoardChange(earlier, { from: 'e1', set: {} })).toThrow(/^Expected a difference from the event/);
});

describe('a stream of changes', () => {
  let dashboard: TestDashboard;
  let leaving: AbortController;

  beforeEach(async () => {
    dashboard = await openDashboard({ pollMs: 600_000 });
    leaving = new AbortController();
  });
  afterEach(async () => {
    leaving.abort();
    await dashboard.database.destroy();
  });

  const save = (title: string) =>
    dashboard.boards.save(dashboard.ada.personId, {
      ...EMPTY_BOARD_SNAPSHOT,
      pullRequests: Array.from({ length: 20 }, (_, index) =>
        pullRequest({ number: index + 1, ...(index === 0 && { title }) }),
      ),
    });

  const open = async (lastEventId?: string, signal = leaving.signal) => {
    const events = await dashboard.streams.openChanges(dashboard.ada, { lastEventId, signal });
    const iterator = events[Symbol.asyncIterator]() as AsyncIterator<BoardChangeEvent, undefined>;
    return { next: async () => (await iterator.next()).value! };
  };
  const readBoard = () => dashboard.boards.read(dashboard.ada, {});

  test('sends the whole board, then differences, which all streams of the user share', async () => {
    await save('first');
    const streams = [await open(), await open()];
    const firsts = [await streams[0]!.next(), await streams[1]!.next()];
    expect(firsts[0]?.data).toEqual({ board: await readBoard() });
    expect(firsts[1]?.data).toBe(firsts[0]?.data);
    await save('second');
    const seconds = [await streams[0]!.next(), await streams[1]!.next()];
    expect(seconds[0]?.data).toMatchObject({
      from: firsts[0]?.id,
      pullRequests: [{ rows: [{ title: 'second' }] }, {}],
    });
    expect(seconds[1]?.data).toBe(seconds[0]?.data);
    expect(
      applyBoardChange({ id: firsts[0]!.id, data: (firsts[0]!.data as { board: Board }).board }, seconds[0]!.data),
    ).toEqual(await readBoard());
  });

  test('sends a reconnecting client the difference from the board that it has', async () => {
    await save('first');
    const first = new AbortController();
    const { id } = await (await open(undefined, first.signal)).next();
    first.abort();
    await save('second');
    await save('third');
    const { data } = await (await open(id)).next();
    expect(data).toMatchObject({ from: id, pullRequests: [{ rows: [{ title: 'third' }] }, { start: 1, count: 19 }] });
  });

  test.each([['unknown~board'], ['no board'], ['']])('sends the whole board after the event id "%s"', async (id) => {
    await save('first');
    expect((await (await open(id)).next()).data).toEqual({ board: await readBoard() });
  });

  test('sends nothing to a client that has the current board', async () => {
    await save('first');
    const { id } = await (await open()).next();
    const again = (await open(id)).next();
    await save('second');
    expect((await again).data).toMatchObject({ from: id });
  });
});
