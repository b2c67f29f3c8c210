/**
 * The shape of the record field tables that `npm run generate` writes to
 * `src/generated/site/records.ts`. They drive storage, the query compiler and
 * the derived resolvers.
 */

/** Enums are stored as text and appear here as `String`. */
export type ScalarType = 'Boolean' | 'Date' | 'Float' | 'ID' | 'Int' | 'String';

interface FieldBase {
  readonly name: string;
  /** Names from the record down to this field, joined by dots: `internal.mediaType`. */
  readonly path: string;
  readonly list: boolean;
  readonly nullable: boolean;
}

/** A value kept in a column of its own; a list of scalars is kept as JSON text. */
export interface ScalarField extends FieldBase {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  /** What an enum may be, in the order of the SDL; absent for other types. */
  readonly values?: readonly string[];
  /** The column that holds it: its own path, or that of the field it is an `@alias` of. */
  readonly column: string;
  /** Whether the field takes the four arguments of `@dateformat`. */
  readonly dateArguments: boolean;
  /** Whether the SDL asks for an index (`@index`). */
  readonly indexed: boolean;
}

/** Fields stored inside the record: one column each, or, for a list, one column of JSON text named by `path`. */
export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly type: string;
  readonly fields: readonly Field[];
}

/** How a relation finds its records. */
export type Relation =
  | { readonly by: 'parent' }
  | { readonly by: 'children' }
  /** The first child of the field's kind (`@child`). */
  | { readonly by: 'child' }
  /**
   * The record of the field's kind whose `to` equals this record's column `from` (`@link`). In a list `from` holds
   * JSON text of a list, and the records stand in its order, without those that are missing. When `from` is the
   * field's own path, the field has that column, of text; keys of files and folders are their ids.
   */
  | { readonly by: 'link'; readonly from: string; readonly to: string };

/** Another record, or several. */
export interface RelationField extends FieldBase {
  readonly kind: 'relation';
  /** A record kind, or `Node` for any of them. */
  readonly type: string;
  readonly relation: Relation;
}

/** A value that a hand-written resolver makes at query time (`@computed`). */
export interface ComputedField extends FieldBase {
  readonly kind: 'computed';
  /** A scalar type or the name of an object type. */
  readonly type: string;
  /** The fields of the object type; empty for a scalar. */
  readonly fields: readonly Field[];
  /** The columns that the resolver reads, beside `id`. */
  readonly needs: readonly string[];
  /** Whether it takes arguments of its own, beside those of `@dateformat`. */
  readonly hasArguments: boolean;
  /** Whether what the resolver gives is formatted by the arguments of `@dateformat`. */
  readonly dateArguments: boolean;
}

export type Field = ScalarField | ObjectField | RelationField | ComputedField;

export interface RecordTable {
  /** The GraphQL type, which is also the name of the database table: `File`. */
  readonly kind: string;
  /** The query of one record: `file`. */
  readonly single: string;
  /** The query of many: `allFile`. */
  readonly all: string;
  /** The files that records of the kind are read from (`@source`); a file belongs to it when one pattern matches. */
  readonly source?: { readonly globs: readonly string[] };
  /** In the order of the SDL. */
  readonly fields: readonly Field[];
}
