/**
 * The types of the record tables that `npm run generate` writes to `src/generated/site/records.ts`. Storage, the query
 * compiler and the derived resolvers use these tables.
 */

/** The scalar types. Enums are stored as text and appear here as `String`; other scalars as the one that stores them. */
export type ScalarType = 'Boolean' | 'Date' | 'Float' | 'ID' | 'Int' | 'String';

/**
 * Converts the values of a scalar of the application. Files, arguments and variables have its JSON values; the store,
 * filters and resolvers have its stored values, of the type that `@stored` names.
 */
export interface ScalarCodec<Stored> {
  /**
   * Returns the stored value of a JSON value.
   *
   * @throws Error that says what was expected.
   */
  parse(value: unknown): Stored;
  /** Returns the JSON value of a stored value. */
  serialize(stored: Stored): unknown;
}

/** The codecs that the reading of files needs, by the name of the scalar. */
export type ScalarCodecs = Readonly<Record<string, Pick<ScalarCodec<unknown>, 'parse'>>>;

/** The extensions of files from which records can be read (`@source`), in lower case, without the dot. */
export const CONTENT_EXTENSIONS = ['csv', 'json', 'markdown', 'md', 'mdx', 'toml', 'yaml', 'yml'] as const;

interface FieldBase {
  readonly name: string;
  /** Names from the record down to this field, joined by dots: `internal.mediaType`. */
  readonly path: string;
  readonly list: boolean;
  readonly nullable: boolean;
}

/** A value stored in a column of its own; a list of scalars is stored as JSON text. */
export interface ScalarField extends FieldBase {
  readonly kind: 'scalar';
  readonly type: ScalarType;
  /** The name of the enum, or of the scalar of the application, whose values `type` stores. */
  readonly declared?: string;
  /** The values of an enum in the order of the SDL; absent for other types. */
  readonly values?: readonly string[];
  /** The column that stores the value: the field's own path, or the path of the field it is an `@alias` of. */
  readonly column: string;
  /** Whether the field takes the four arguments of `@dateformat`. */
  readonly dateArguments: boolean;
  /** Whether the SDL asks for an index (`@index`). */
  readonly indexed: boolean;
  /** The weight of the field in the full-text index of its record type (`@search`). */
  readonly searchWeight?: number;
  /** Whether the path of the file is the value if the file has none (`@slug`). */
  readonly slug?: true;
}

/** Fields stored inside the record: one column each, or, for a list, one column of JSON text named by `path`. */
export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly type: string;
  readonly fields: readonly RecordField[];
}

/** The rule by which a relation finds its records. */
export type Relation =
  | { readonly by: 'parent' }
  | { readonly by: 'children' }
  /** The first child of the field's type (`@child`). */
  | { readonly by: 'child' }
  /**
   * The record of the field's type whose `to` equals this record's column `from` (`@link`). For a list, `from` contains
   * a JSON list, and the records come in its order, without missing ones. If `from` is the field's own path, the field
   * has a text column of that name. Files and folders are linked by their ids; `pathField` is the path of a different field
   * that has the path of the file in the content.
   */
  | { readonly by: 'link'; readonly from: string; readonly to: string; readonly pathField?: string }
  /**
   * The records of the field's type whose column `to` equals this record's column `from`, or contains it if `inList`
   * (`@link(by:)`). In the order of their creation.
   */
  | { readonly by: 'back'; readonly from: string; readonly to: string; readonly inList: boolean };

/** A reference to another record or to several. */
export interface RelationField extends FieldBase {
  readonly kind: 'relation';
  /** A record type, or `Node` for any of them. */
  readonly type: string;
  readonly relation: Relation;
}

/** A value that a resolver computes at query time, which is written by hand (`@computed`) or derived (`@markdown`). */
export interface ComputedField extends FieldBase {
  readonly kind: 'computed';
  /** A scalar type or the name of an object type. */
  readonly type: string;
  /** The name of the enum, or of the scalar of the application, whose values `type` stores. */
  readonly declared?: string;
  /** The values of an enum in the order of the SDL; absent for other types. */
  readonly values?: readonly string[];
  /** The fields of the object type; empty for a scalar. */
  readonly fields: readonly RecordField[];
  /** The columns that the resolver reads in addition to `id`. */
  readonly needs: readonly string[];
  /** Whether the field takes arguments other than those of `@dateformat`. */
  readonly hasArguments: boolean;
  /** Whether an argument without a default is required, so that filters, sorts and groups cannot use the field. */
  readonly needsArguments?: true;
  /** Whether the arguments of `@dateformat` format the resolver's result. */
  readonly dateArguments: boolean;
  /** The column with the text that a derived resolver renders (`@markdown`). */
  readonly markdown?: string;
}

export type RecordField = ScalarField | ObjectField | RelationField | ComputedField;

export interface RecordTable {
  /** The GraphQL type, which is also the name of the database table: `File`. */
  readonly kind: string;
  /** The name of the query for one record: `file`. */
  readonly single: string;
  /** The name of the query for many records: `allFile`. */
  readonly all: string;
  /**
   * The files from which records of the type are read (`@source`). A file matches if one of the globs does. `at` has the keys
   * that lead to the records in a file, separated by dots, with `*` for any key.
   */
  readonly source?: { readonly globs: readonly string[]; readonly at?: string };
  /** In the order of the SDL. */
  readonly fields: readonly RecordField[];
}

/** The description of a record type for the site pages, which let users browse records without writing GraphQL. */
export interface KindDescription {
  readonly kind: string;
  readonly description: string;
  /** The names of the queries for one record and for many. */
  readonly single: string;
  readonly all: string;
  readonly fields: readonly FieldDescription[];
  /** Whether the query for many records takes the argument `search`. */
  readonly searchable?: true;
  /** The fields that derive something from their arguments, such as an image. */
  readonly made: readonly DerivedFieldDescription[];
}

export interface FieldDescription {
  readonly name: string;
  readonly description: string;
  /**
   * The selection of the whole field, such as `siteMetadata { author title }`; for links, of the identifying fields.
   */
  readonly selection: string;
  /** The column of a field that is stored as a scalar or as a list of scalars. */
  readonly column?: ColumnDescription;
}

export interface ColumnDescription {
  readonly type: ScalarType;
  readonly list?: true;
  /** The values of an enum. */
  readonly values?: readonly string[];
}

export interface DerivedFieldDescription {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly ArgumentDescription[];
  /** The fields of the result. */
  readonly results: readonly NameDescription[];
}

export interface NameDescription {
  readonly name: string;
  readonly description: string;
}

export interface ArgumentDescription extends NameDescription {
  /** The type in SDL, without `!`: `Int`, `[Int]`, `ImageFit`. */
  readonly type: string;
  readonly required?: true;
  /** The default value in GraphQL syntax. */
  readonly default?: string;
  /** The values of an enum. */
  readonly values?: readonly NameDescription[];
  /** The fields of an input object. */
  readonly arguments?: readonly ArgumentDescription[];
}
