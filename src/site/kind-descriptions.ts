/** What a page shows of the schema: every kind of record, so that a person may look at any without knowing GraphQL. */
export interface KindDescription {
  readonly kind: string;
  readonly description: string;
  /** The queries of one record and of many. */
  readonly single: string;
  readonly all: string;
  readonly fields: readonly FieldDescription[];
  /** Fields that make something by arguments. */
  readonly made: readonly MadeDescription[];
}

export interface FieldDescription {
  readonly name: string;
  readonly description: string;
  /** How a query asks for all of it, such as `siteMetadata { author title }`; of other records, what names them. */
  readonly selection: string;
}

export interface MadeDescription {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly ArgumentDescription[];
  /** What can be asked of it. */
  readonly results: readonly NameDescription[];
}

export interface NameDescription {
  readonly name: string;
  readonly description: string;
}

export interface ArgumentDescription extends NameDescription {
  /** As SDL writes it, without `!`: `Int`, `[Int]`, `ImageFit`. */
  readonly type: string;
  readonly required?: true;
  /** As a query writes it. */
  readonly default?: string;
  /** Of an enum. */
  readonly values?: readonly NameDescription[];
  /** Of an input. */
  readonly arguments?: readonly ArgumentDescription[];
}
