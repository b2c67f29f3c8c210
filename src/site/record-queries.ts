import type { Filter } from './compile-filter.js';
import type { Sort } from './compile-sort.js';
import type { RecordConnection } from './connection.js';
import type { Selection, SiteRecord } from './selection.js';

/**
 * Gives a computed field's value for a filter or a sort: what its resolver
 * answers with default arguments, now. `undefined` counts as missing.
 */
export type ComputeValue = (kind: string, field: string, record: SiteRecord) => unknown;

export interface RecordQuery {
  readonly filter?: Filter | null;
  readonly sort?: Sort | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
  /** Left out where nothing computed can be asked for. */
  readonly compute?: ComputeValue;
  readonly meter?: Meter;
}

/** Asked now and then during long work, so that it can be stopped. */
export interface Meter {
  /** Throws when the work is to end. */
  check(): void;
}

/** What a question brings from the one who asks. */
export type Asker = Pick<RecordQuery, 'compute' | 'meter'>;

/** What resolvers ask of the site's records. */
export interface RecordQueries {
  /** The first match in creation order; with no condition, the first record. */
  find(kind: string, query: Asker & Pick<RecordQuery, 'filter'>, selection: Selection): SiteRecord | undefined;
  /** Nothing is read before it is asked of the connection. */
  page(kind: string, query: RecordQuery, selection: Selection): RecordConnection;
}
