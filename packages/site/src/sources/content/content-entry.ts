/** The results of the parsers of content, which are loaded with the first file. */

/** A record as written in a file, before validation. */
export interface ContentEntry {
  readonly values: Readonly<Record<string, unknown>>;
  /** The text after the front matter of a Markdown file; otherwise `undefined`. */
  readonly body: string | undefined;
  /** Whether all values are text, as in CSV, so that numbers and booleans are parsed from it. */
  readonly textOnly: boolean;
  /** The text in the file of numbers and booleans that JavaScript writes differently, such as `1.10`, by {@link pathKey}. */
  readonly written?: Readonly<Record<string, string>>;
  /** Returns the line, counted from 1, of the value at a path or of its nearest parent. */
  lineOf(path: readonly (number | string)[]): number;
}

/** Returns the key of the path of a value in an entry. */
export const pathKey = (path: readonly (number | string)[]): string => JSON.stringify(path);

/**
 * Returns the key of the value for a field: its name, or else the first one that Gatsby turns into the name, which has `_` for
 * each character that names of GraphQL cannot have, and before a digit at the beginning.
 */
export function findKey(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (Object.hasOwn(values, name)) return name;
  if (!name.includes('_')) return undefined;
  // Most keys differ in length, which is fast to compare.
  return Object.keys(values).find(
    (key) =>
      name.length >= key.length &&
      name.length <= key.length + 1 &&
      key.replace(/\W/g, '_').replace(/^(?=\d)/, '_') === name,
  );
}

/** The error of a file that ends in a stack overflow. */
export const NESTED_TOO_DEEPLY = 'its values are nested too deeply.';

/** Thrown when a file is not valid in the format of its extension. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** A CSV file of the maximum size has about this many rows; each record is a database row with its indexes. */
export const MAX_RECORDS = 100_000;

export function assertRecordLimit(count: number): void {
  if (count > MAX_RECORDS) throw new ContentError(`expected at most ${MAX_RECORDS} records in a file.`, 1);
}
