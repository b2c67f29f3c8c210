import type { RelationField } from '@trellis/core/record-types';

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

export interface RecordQuery {
  readonly filter?: RecordFilter | null;
  readonly sort?: RecordSort | null;
  /** The text of a full-text search. A text without a word has no effect. */
  readonly search?: string | null;
  readonly skip?: number | null;
  readonly limit?: number | null;
  /** Returns the same values for all queries of a request; absent if the query cannot use computed fields. */
  readonly computed?: () => ComputedValues;
  readonly meter?: WorkMeter;
}

/** The coerced input of a filter, or the coerced arguments of a single-record query. */
export type RecordFilter = Readonly<Record<string, unknown>>;

/** A coerced sort input: dotted paths, and the order of each at the same index. */
export interface RecordSort {
  readonly fields?: readonly (string | null)[] | null;
  readonly order?: readonly ('ASC' | 'DESC' | null)[] | null;
}

/** The parts of a query that depend on the request. */
export type QueryContext = Pick<RecordQuery, 'computed' | 'meter'>;

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

/** Provides the values of computed fields that filters, sorts and groups use. */
export interface ComputedValues {
  /**
   * Returns the result of the field's resolver with default arguments, or `undefined` if it is not available
   * synchronously. A missing value is `null`; an AppError also counts as a missing value.
   */
  find(kind: string, field: string, record: SiteRecord): unknown;
  /** Loads the values of records for which {@link find} returned `undefined`, in their order. Absent means missing. */
  load(kind: string, field: string, records: readonly SiteRecord[]): Promise<readonly unknown[]>;
}

/** The records that match a query. Each part is read on first access. */
export interface RecordConnection {
  /** The number of matches on all pages. */
  readonly totalCount: number;
  readonly nodes: readonly SiteRecord[];
  readonly edges: readonly RecordEdge[];
  readonly pageInfo: PageInfo;
  /** Returns the distinct values of a field on this page as text, sorted by UTF-16 code unit. */
  distinct(query: { readonly field: string }): readonly string[];
  /** Returns a group for each value of a field on this page. `skip` and `limit` apply within each group. */
  group(query: GroupQuery): readonly RecordGroup[];
}

export interface RecordEdge {
  readonly node: SiteRecord;
  /** The neighbours on the same page. */
  readonly next: SiteRecord | null;
  readonly previous: SiteRecord | null;
  /** The match of a full-text search; absent without one, and in groups. */
  readonly match?: SearchMatch;
}

export interface SearchMatch {
  /** The higher, the better. */
  readonly score: number | null;
  /** Returns the part of the record that matches, as HTML. */
  snippet(words: number): string | null;
}

export interface PageInfo {
  readonly currentPage: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly itemCount: number;
  readonly pageCount: number;
  readonly perPage: number | null;
  readonly totalCount: number;
}

export interface GroupQuery {
  readonly field: string;
  readonly skip?: number | null;
  readonly limit?: number | null;
  readonly sort?: { readonly by: 'VALUE' | 'COUNT'; readonly order: 'ASC' | 'DESC' } | null;
}

/** The records of a page that have the same value. */
export interface RecordGroup {
  readonly field: string;
  readonly fieldValue: string;
  /** The number of records in the group, regardless of `skip` and `limit`. */
  readonly totalCount: number;
  readonly pageInfo: PageInfo;
  readonly nodes: readonly SiteRecord[];
  readonly edges: readonly RecordEdge[];
}

/** The fields of each record that a query selects, so that only they are read. */
export interface RecordSelection {
  readonly values: readonly SelectedValue[];
  readonly relations: readonly SelectedRelation[];
}

/** A column or an object of columns, with its name in the record. */
export type SelectedValue = SelectedColumn | SelectedObject;

export interface SelectedColumn {
  readonly kind: 'column';
  readonly name: string;
  readonly column: string;
  /** The form in which SQLite stores the value. */
  readonly holds: 'json' | 'boolean' | 'float' | 'value';
}

interface SelectedObject {
  readonly kind: 'object';
  readonly name: string;
  readonly values: readonly SelectedValue[];
  /** All columns of a nullable object, which is null if all of them are; empty otherwise. */
  readonly presence: readonly string[];
  /** The path that is noted in the record if the object has no values but is not null. */
  readonly emptyPath: string | undefined;
}

/** Related records, which the record contains under a `~` and the name of the field. */
export interface SelectedRelation {
  readonly field: RelationField;
  readonly select: (kind: string) => RecordSelection;
}

/**
 * The selected part of a record: plain values by field name, related records by a `~` and the name, and `__typename`.
 */
export type SiteRecord = Record<string, unknown>;
