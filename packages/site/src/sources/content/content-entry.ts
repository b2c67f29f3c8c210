/** The results of the parsers of content, which are loaded with the first file. */

/** A record as written in a file, before validation. */
export interface ContentEntry {
  readonly values: Readonly<Record<string, unknown>>;
  /** The text after the front matter of a Markdown file; otherwise `undefined`. */
  readonly body: string | undefined;
  /** Whether all values are text, as in CSV, so that numbers and booleans are parsed from it. */
  readonly textOnly: boolean;
  /** Returns the line, counted from 1, of the value at a path or of its nearest parent. */
  lineOf(path: readonly (number | string)[]): number;
}

/** Thrown when a file is not valid in the format of its extension. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
