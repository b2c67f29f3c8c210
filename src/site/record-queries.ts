import type { RecordFilter } from './compile-filter.js';
import type { ComputedValues } from './computed-values.js';
import type { RecordSort } from './compile-sort.js';
import type { RecordConnection } from './connection.js';
import type { RecordSelection, SiteRecord } from './selection.js';

export interface RecordQuery {
  readonly filter?: RecordFilter | null;
  readonly sort?: RecordSort | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
  /** Absent if the query cannot use computed fields. */
  readonly computed?: ComputedValues;
  readonly meter?: WorkMeter;
}

/** The work limit of one operation, which also lets other operations run in between. */
export interface WorkMeter {
  /** Called regularly during long work. Throws when the limit is reached. */
  check(): void;
  /** The time, in milliseconds, that one statement may block the process. The filter of a longer one runs in pieces. */
  readonly statementMs: number;
  /** Runs a piece of blocking work and counts its time. */
  work<T>(piece: () => T): T;
  /** Lets other operations run first. */
  nextTurn(): Promise<void>;
}

/** The parts of a query that depend on the request. */
export type QueryContext = Pick<RecordQuery, 'computed' | 'meter'>;

/** The queries that resolvers run on the records of the site. */
export interface RecordQueries {
  /** Returns the result of `read`, which uses the other members, after loading computed values that it needs. */
  withComputedValues<T>(read: () => T | Promise<T>): T | Promise<T>;
  /** Returns the first match in creation order; without a condition, the first record. */
  find(
    kind: string,
    query: QueryContext & Pick<RecordQuery, 'filter'>,
    selection: RecordSelection,
  ): SiteRecord | undefined;
  /** Returns a connection, which reads each part on first access. */
  page(kind: string, query: RecordQuery, selection: RecordSelection): RecordConnection;
}
