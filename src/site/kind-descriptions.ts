/** The description of a record type for the site pages, which let users browse records without writing GraphQL. */
export interface KindDescription {
  readonly kind: string;
  readonly description: string;
  /** The names of the queries for one record and for many. */
  readonly single: string;
  readonly all: string;
  readonly fields: readonly FieldDescription[];
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
