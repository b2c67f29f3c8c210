import type { Filter } from './compile-filter.js';
import type { ComputedValues } from './computed-values.js';
import type { Sort } from './compile-sort.js';
import type { RecordConnection } from './connection.js';
import type { Selection, SiteRecord } from './selection.js';

export interface RecordQuery {
  readonly filter?: Filter | null;
  readonly sort?: Sort | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
  /** Left out where nothing computed can be asked for. */
  readonly computed?: ComputedValues;
  readonly meter?: Meter;
}

/** The budget of one operation, and its way of letting other operations run. */
export interface Meter {
  /** Called now and then during long work. Throws when the work is to end. */
  check(): void;
  /** How long one statement may hold the process, in milliseconds; the filter of a longer one is evaluated in pieces. */
  readonly statementMs: number;
  /** Does a piece of work that keeps the process busy, and counts its time. */
  work<T>(piece: () => T): T;
  /** Lets other operations go first. */
  nextTurn(): Promise<void>;
}

/** What a question brings from the one who asks. */
export type Asker = Pick<RecordQuery, 'computed' | 'meter'>;

/** What resolvers ask of the site's records. */
export interface RecordQueries {
  /** What `read` makes of other members: at once, or after computed values that it needs, which take time. */
  whenKnown<T>(read: () => T | Promise<T>): T | Promise<T>;
  /** The first match in creation order; with no condition, the first record. */
  find(kind: string, query: Asker & Pick<RecordQuery, 'filter'>, selection: Selection): SiteRecord | undefined;
  /** Nothing is read before it is asked of the connection. */
  page(kind: string, query: RecordQuery, selection: Selection): RecordConnection;
}
