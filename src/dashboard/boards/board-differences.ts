/** Differences between boards: a change of one row is sent without the other rows. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { components } from '../../generated/dashboard/types.js';
import type { Board } from './board.js';

type Schemas = components['schemas'];
export type BoardChange = Schemas['BoardChange'];
type BoardDifference = Schemas['BoardDifference'];

/** The members that are sent by rows. */
const LISTS = ['pullRequests', 'issues', 'repos'] as const;
type ListName = (typeof LISTS)[number];

/** The digests of a board, from which later differences are found. They take a fraction of its memory. */
export interface BoardOutline {
  /** The digest of the whole board. */
  readonly digest: string;
  readonly members: Readonly<Record<string, string>>;
  readonly rows: Readonly<Record<ListName, readonly string[]>>;
}

interface Digest {
  readonly digest: string;
  /** The length of the JSON text. */
  readonly length: number;
}

/** Rows are frozen with their boards, and shared by the boards of one snapshot. */
const digests = new WeakMap<object, Digest>();

/** 96 bits, so that different rows never have the same digest in practice. */
const DIGEST_CHARACTERS = 16;

const toDigest = (text: string): string => hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS);

function digestOf(row: object): Digest {
  const known = digests.get(row);
  if (known !== undefined) return known;
  const text = JSON.stringify(row);
  const digest = { digest: toDigest(text), length: text.length };
  digests.set(row, digest);
  return digest;
}

const outlines = new WeakMap<Board, BoardOutline>();

export function outlineOf(board: Board): BoardOutline {
  const known = outlines.get(board);
  if (known !== undefined) return known;
  const members: Record<string, string> = {};
  for (const [name, value] of listMembers(board)) members[name] = toDigest(JSON.stringify(value));
  const rows = {
    pullRequests: board.pullRequests.map((row) => digestOf(row).digest),
    issues: board.issues.map((row) => digestOf(row).digest),
    repos: board.repos.map((row) => digestOf(row).digest),
  };
  const outline = { digest: toDigest(JSON.stringify([members, rows])), members, rows };
  outlines.set(board, outline);
  return outline;
}

/** Lists the members that are sent as a whole. */
const listMembers = (board: Board): [string, unknown][] =>
  Object.entries(board).filter(([name]) => !(LISTS as readonly string[]).includes(name));

/** An earlier board, which the receiver has. */
export interface EarlierBoard {
  /** The id of its event. */
  readonly id: string;
  readonly outline: BoardOutline;
}

/** The frozen changes of a board, so that streams that send the same one share its JSON and compressed bytes. */
const changes = new WeakMap<Board, Map<string, BoardChange>>();

/** Returns the difference from an earlier board, or the whole board without an earlier one, or if the difference is large. */
export function toBoardChange(board: Board, earlier: EarlierBoard | undefined): BoardChange {
  const known = changes.get(board) ?? new Map<string, BoardChange>();
  changes.set(board, known);
  const whole = known.get('') ?? Object.freeze({ board });
  known.set('', whole);
  if (earlier === undefined) return whole;
  const change = known.get(earlier.id) ?? findDifference(board, earlier) ?? whole;
  known.set(earlier.id, change);
  return change;
}

/** The length of the text of kept rows, roughly. */
const RUN_LENGTH = 30;

/** Returns `undefined` for a difference that has more than half of the rows, by the length of their texts. */
function findDifference(board: Board, { id, outline }: EarlierBoard): BoardDifference | undefined {
  const set = Object.fromEntries(
    listMembers(board).filter(([name]) => outline.members[name] !== outlineOf(board).members[name]),
  );
  const unset = Object.keys(outline.members).filter((name) => outlineOf(board).members[name] === undefined);
  const pullRequests = findRuns(outline.rows.pullRequests, board.pullRequests);
  const issues = findRuns(outline.rows.issues, board.issues);
  const repos = findRuns(outline.rows.repos, board.repos);
  const sent = [pullRequests, issues, repos].reduce((sum, runs) => sum + lengthOf(runs ?? []), 0);
  const all = LISTS.reduce((sum, name) => sum + lengthOf([{ rows: board[name] }]), 0);
  if (sent > all / 2) return undefined;
  return Object.freeze({
    from: id,
    set,
    ...(unset.length > 0 && { unset }),
    ...(pullRequests && { pullRequests }),
    ...(issues && { issues }),
    ...(repos && { repos }),
  });
}

type Run<Row> = Schemas['KeptRows'] | { readonly rows: readonly Row[] };

function lengthOf(runs: readonly Run<object>[]): number {
  return runs
    .flatMap((run) => ('rows' in run ? run.rows.map((row) => digestOf(row).length) : [RUN_LENGTH]))
    .reduce((sum, length) => sum + length, 0);
}

/**
 * Describes a list by an earlier one, in linear time. Rows that moved are not sent again.
 *
 * @returns `undefined` if the lists are equal.
 */
function findRuns<Row extends object>(earlier: readonly string[], rows: readonly Row[]): Run<Row>[] | undefined {
  const places = new Map(earlier.map((digest, place) => [digest, place]));
  const runs: ({ start: number; count: number } | { rows: Row[] })[] = [];
  for (const row of rows) {
    const { digest } = digestOf(row);
    const last = runs.at(-1);
    const isNext = last !== undefined && 'start' in last && earlier[last.start + last.count] === digest;
    const start = places.get(digest);
    if (isNext) last.count += 1;
    else if (start !== undefined) runs.push({ start, count: 1 });
    else if (last !== undefined && 'rows' in last) last.rows.push(row);
    else runs.push({ rows: [row] });
  }
  const [first] = runs;
  const isWhole = first !== undefined && 'start' in first && first.start === 0 && first.count === earlier.length;
  const isEqual = runs.length === 0 ? earlier.length === 0 : runs.length === 1 && isWhole;
  return isEqual ? undefined : runs;
}

/** The number of digests that a process keeps of boards that were sent, about 10 MB. */
const MAX_DIGESTS = 200_000;

/** The boards that streams of this process have sent, for clients that reconnect. */
export interface SentBoards {
  find(personId: string, eventId: string): EarlierBoard | undefined;
  add(personId: string, sent: EarlierBoard): void;
}

export function createSentBoards(): SentBoards {
  const known = new LRUCache<string, BoardOutline>({
    maxSize: MAX_DIGESTS,
    sizeCalculation: ({ rows }) => LISTS.reduce((sum, name) => sum + rows[name].length, 20),
  });
  return {
    find(personId, id) {
      const outline = known.get(`${personId} ${id}`);
      return outline && { id, outline };
    },
    add: (personId, { id, outline }) => void known.set(`${personId} ${id}`, outline),
  };
}
