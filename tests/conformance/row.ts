/** A row of the table of supported features: what a contract may contain, and what happens to it. */
export type Row = RefusedRow | SupportedRow;

interface Feature {
  /** The heading of the table that shows the row, such as `Parameters`. */
  readonly section: string;
  /** The feature in the words of its specification, such as `style: deepObject`; unique in its section. */
  readonly feature: string;
  /** What a reader should know, in one or two sentences of Markdown. */
  readonly note?: string;
  /** The parts of a contract that use the feature: `paths` and `components` in YAML, or SDL. */
  readonly contract: string;
  /** Other documents of the contract, by path. */
  readonly documents?: Readonly<Record<string, string>>;
}

/** A feature that works from the contract to the generated client. */
export interface SupportedRow extends Feature, SiteParts {
  readonly outcome: 'supported';
  /** The requests to the served contract, with the responses that they must get. */
  readonly exchanges: readonly Exchange[];
  /**
   * The members of the generated handler interface, in TypeScript, for operations that do not echo their input. The
   * compiler checks them.
   */
  readonly handlers?: string;
  /** TypeScript statements that use the generated `client`, with `assert`; compiled and run. */
  readonly program?: string;
  /** All warnings, as `line:column message`, apart from those that most rows would have. */
  readonly warnings?: readonly string[];
}

/** A feature that is refused when it is generated. */
export interface RefusedRow extends Feature {
  readonly outcome: 'refused';
  /** All errors, as `line:column message` relative to {@link Feature.contract}. */
  readonly errors: readonly string[];
}

/** A request over HTTP. Its operation echoes the input of its handler as JSON unless the row says otherwise. */
export interface Exchange {
  /** The method and the path with its query, such as `GET /items?tag=a&tag=b`. */
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** The expected response body: the members that must be there if it is JSON, otherwise its text. */
  readonly response?: unknown;
  /** The response headers that must be there, by their names in lower case. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /**
   * Whether the generated client sends the input that a handler echoes, and must get the same response. By default it
   * does if the status is successful and the row has no handlers.
   */
  readonly isRepeated?: boolean;
}

/** The parts of a supported row of SDL, besides its contract. */
interface SiteParts {
  /** The files of the site, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The hand-written resolvers and codecs, by type. */
  readonly resolvers?: Readonly<Record<string, object>>;
  /** Texts that the published schema must contain. */
  readonly published?: readonly string[];
  /** Texts that the published schema must not contain. */
  readonly unpublished?: readonly string[];
}
