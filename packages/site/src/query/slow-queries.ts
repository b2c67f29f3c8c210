import { quoteIdentifier, sql, type Sql, sqlTemplate, type SqlValue } from '../records/sql.js';
import { type CompiledQuery, restrictToPositions } from './compile-query.js';
import type { WorkMeter } from './record-queries.js';
import { withComputedValues } from './record-reader.js';

/** The size of pieces adapts until each takes about this long, so that other requests wait only briefly. */
const PIECE_MS = 10;
const FIRST_ROWS = 200;
const MAX_ROWS = 10_000;

/** The maximum number of attempts if records change during the search. */
const MAX_ATTEMPTS = 5;

/** A query restricted to its matches, which are those of one version of the records. */
export interface FoundMatches {
  readonly version: number;
  readonly query: CompiledQuery;
}

export interface SearchOptions {
  readonly run: (statement: Sql) => SqlValue[][];
  /** Returns a number that changes with the records that the query reads. */
  readonly getVersion: () => number;
  readonly meter: WorkMeter;
}

/**
 * Finds the matches of a slow filter, such as one with a malicious pattern, a few rows at a time with other requests in
 * between. A single SQLite statement cannot pause and would block the process until its end. Returns `undefined` if
 * records changed during each attempt.
 */
export async function findInPieces(query: CompiledQuery, search: SearchOptions): Promise<FoundMatches | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const version = search.getVersion();
    const positions = await findPositions(query, search);
    if (positions) return { version, query: restrictToPositions(query, JSON.stringify(positions)) };
  }
  return undefined;
}

/** Returns the positions of all matches, or `undefined` if records changed during the search. */
async function findPositions(query: CompiledQuery, search: SearchOptions): Promise<SqlValue[] | undefined> {
  const { meter } = search;
  const version = search.getVersion();
  const positions: SqlValue[] = [];
  let after: SqlValue = Number.MIN_SAFE_INTEGER;
  let rows = FIRST_ROWS;
  for (;;) {
    await meter.nextTurn();
    if (search.getVersion() !== version) return undefined;
    const startedAt = performance.now();
    const piece = await withComputedValues(() => meter.work(() => findPiece(query, { after, rows }, search)));
    if (!piece) return positions;
    for (const position of piece.positions) positions.push(position);
    after = piece.last;
    rows = nextSize(rows, performance.now() - startedAt);
  }
}

/** Returns the statement whose matches {@link findInPieces} finds. */
export const searchStatement = ({ kind, where }: CompiledQuery): Sql =>
  sqlTemplate(`SELECT t.position FROM ${quoteIdentifier(kind)} AS t WHERE %`, where);

interface Piece {
  readonly after: SqlValue;
  readonly rows: number;
}

interface FoundPiece {
  readonly last: SqlValue;
  readonly positions: readonly SqlValue[];
}

function findPiece(
  query: CompiledQuery,
  { after, rows }: Piece,
  { run, meter }: SearchOptions,
): FoundPiece | undefined {
  meter.check();
  const table = quoteIdentifier(query.kind);
  const bound = sql(
    `SELECT max(position) FROM (SELECT position FROM ${table} WHERE position > ? ORDER BY position LIMIT ?)`,
    after,
    rows,
  );
  const last = run(bound)[0]?.[0] ?? null;
  if (last === null) return undefined;
  const within = sql('t.position > ? AND t.position <= ?', after, last);
  const found = sqlTemplate(`SELECT t.position FROM ${table} AS t WHERE % AND (%)`, within, query.where);
  return { last, positions: run(found).map(([position = null]) => position) };
}

function nextSize(rows: number, milliseconds: number): number {
  if (milliseconds > PIECE_MS) return Math.max(1, Math.floor((rows * PIECE_MS) / milliseconds));
  return Math.min(MAX_ROWS, rows * 2);
}
