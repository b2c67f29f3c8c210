/** Reads whole boards from the stream of differences between boards, in programs and pages. */
import { readEvents, type StreamEvent, type StreamOptions } from '@trellis/client/events';
import type { DashboardClient } from '../generated/dashboard/client.js';
import type { components, operations } from '../generated/dashboard/types.js';

type Schemas = components['schemas'];
type Board = Schemas['Dashboard'];

/** The query parameters of the stream. */
export type BoardsQuery = NonNullable<operations['streamBoardChanges']['parameters']['query']>;

/**
 * Yields the caller's board at once and after every change, like `/api/dashboard/stream`, but receives only the rows that
 * differ. Rows that are equal are the same objects as before. After the connection ends, it reconnects.
 *
 * ```ts
 * for await (const { data } of readBoards(client)) console.log(data.pullRequests.length);
 * ```
 *
 * @throws ApiError for an error response; the error of the client when the request fails; the abort reason of the
 * signal.
 */
export async function* readBoards(
  client: DashboardClient,
  query: BoardsQuery = {},
  options: StreamOptions = {},
): AsyncGenerator<StreamEvent<Board>, void, undefined> {
  let last: StreamEvent<Board> | undefined;
  const changes = readEvents<Schemas['BoardChange']>(
    (init) => client.GET('/api/dashboard/changes', { ...init, params: { query } }),
    options,
  );
  for await (const { id, data } of changes) {
    last = { id, data: applyBoardChange(last, data) };
    yield last;
  }
}

/**
 * Returns the board after a change.
 *
 * @param earlier The board of the last event; `undefined` before the first one.
 * @throws TypeError for a difference from a board that is not the earlier one.
 */
export function applyBoardChange(earlier: StreamEvent<Board> | undefined, change: Schemas['BoardChange']): Board {
  if ('board' in change) return change.board;
  const { from, set, unset = [], pullRequests, issues, repos } = change;
  if (earlier === undefined || earlier.id !== from)
    throw new TypeError(`Expected a difference from the event "${earlier?.id ?? ''}"; received one from "${from}".`);
  const board = earlier.data;
  const others = Object.entries(board).filter(([name]) => !unset.includes(name));
  return {
    // The contract lets a difference unset optional members only.
    ...(Object.fromEntries(others) as unknown as Board),
    ...set,
    ...(pullRequests && { pullRequests: applyRuns(board.pullRequests, pullRequests) }),
    ...(issues && { issues: applyRuns(board.issues, issues) }),
    ...(repos && { repos: applyRuns(board.repos, repos) }),
  };
}

type Run<Row> = Schemas['KeptRows'] | { readonly rows: readonly Row[] };

const applyRuns = <Row>(earlier: readonly Row[], runs: readonly Run<Row>[]): Row[] =>
  runs.flatMap((run) => ('rows' in run ? run.rows : earlier.slice(run.start, run.start + run.count)));
