import { restrictToPositions } from './compile-query.js';
import type { CompiledQuery } from './compile-query.js';
import { withComputedValues } from './computed-values.js';
import type { QueryContext, WorkMeter } from './record-queries.js';
import { sqlTemplate, quoteIdentifier, sql } from './sql.js';
import type { Sql, SqlValue } from './sql.js';

/** The size of pieces adapts until each takes about this long, so that other requests wait only briefly. */
const PIECE_MS = 10;
const FIRST_ROWS = 200;
const MAX_ROWS = 10_000;

/** The maximum number of attempts if records change during the scan. */
const MAX_STARTS = 5;

interface ScansOptions {
  readonly run: (statement: Sql, queryContext: QueryContext) => SqlValue[][];
  /** Changes with the records. */
  readonly generation: () => number;
}

interface Scan {
  readonly generation: number;
  readonly query: CompiledQuery;
}

/**
 * Finds the matches of slow filters, such as filters with malicious patterns, a few rows at a time with other requests
 * in between. A single SQLite statement cannot pause and would block the process until its end.
 */
export class ChunkedQueries {
  readonly #run: ScansOptions['run'];
  readonly #generation: () => number;
  /** The matches found by each operation, by condition. */
  readonly #found = new WeakMap<WorkMeter, Map<string, Scan>>();

  constructor({ run, generation }: ScansOptions) {
    this.#run = run;
    this.#generation = generation;
  }

  /** Returns the query restricted to the matches that a scan of this operation has found. */
  find(query: CompiledQuery, meter: WorkMeter | undefined): CompiledQuery | undefined {
    const scans = meter && this.#found.get(meter);
    const scan = scans?.get(keyOf(query));
    return scan?.generation === this.#generation() ? scan.query : undefined;
  }

  /** Finds all matches of a query. */
  async scan(query: CompiledQuery, queryContext: QueryContext): Promise<void> {
    const { meter } = queryContext;
    if (!meter) return;
    for (let starts = 0; starts < MAX_STARTS; starts += 1) {
      const generation = this.#generation();
      const positions = await this.#positions(query, { queryContext, meter, generation });
      if (!positions) continue;
      const scans = this.#found.get(meter) ?? new Map<string, Scan>();
      scans.set(keyOf(query), { generation, query: restrictToPositions(query, JSON.stringify(positions)) });
      this.#found.set(meter, scans);
      return;
    }
  }

  /** Returns the positions of all matches, or `undefined` if records changed during the scan. */
  async #positions(
    query: CompiledQuery,
    { queryContext, meter, generation }: Scanning,
  ): Promise<SqlValue[] | undefined> {
    const positions: SqlValue[] = [];
    let after: SqlValue = Number.MIN_SAFE_INTEGER;
    let rows = FIRST_ROWS;
    for (;;) {
      await meter.nextTurn();
      if (this.#generation() !== generation) return undefined;
      const startedAt = performance.now();
      const piece = await withComputedValues(() => meter.work(() => this.#piece(query, { after, rows }, queryContext)));
      if (!piece) return positions;
      for (const position of piece.positions) positions.push(position);
      after = piece.last;
      rows = nextSize(rows, performance.now() - startedAt);
    }
  }

  #piece(query: CompiledQuery, { after, rows }: Piece, queryContext: QueryContext): Found | undefined {
    queryContext.meter?.check();
    const table = quoteIdentifier(query.kind);
    const bound = sql(
      `SELECT max(position) FROM (SELECT position FROM ${table} WHERE position > ? ORDER BY position LIMIT ?)`,
      after,
      rows,
    );
    const last = this.#run(bound, queryContext)[0]?.[0] ?? null;
    if (last === null) return undefined;
    const within = sql('t.position > ? AND t.position <= ?', after, last);
    const found = sqlTemplate(`SELECT t.position FROM ${table} AS t WHERE % AND (%)`, within, query.where);
    return { last, positions: this.#run(found, queryContext).map(([position = null]) => position) };
  }
}

interface Scanning {
  readonly queryContext: QueryContext;
  readonly meter: WorkMeter;
  readonly generation: number;
}

interface Piece {
  readonly after: SqlValue;
  readonly rows: number;
}

interface Found {
  readonly last: SqlValue;
  readonly positions: readonly SqlValue[];
}

const keyOf = ({ kind, where: { text, values } }: CompiledQuery): string => JSON.stringify([kind, text, values]);

function nextSize(rows: number, milliseconds: number): number {
  if (milliseconds > PIECE_MS) return Math.max(1, Math.floor((rows * PIECE_MS) / milliseconds));
  return Math.min(MAX_ROWS, rows * 2);
}
