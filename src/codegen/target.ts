/** A place in a contract document; lines and columns count from 1. */
export interface Location {
  /** The document's path from the repository root. */
  file: string;
  line: number;
  column: number;
}

/** What a contract says wrongly, and where; the message says what was expected and what came. */
export interface Mistake extends Location {
  message: string;
}

/** Thrown by a generator whose documents can't be generated from; carries every mistake it found. */
export class ContractError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`).join('\n'));
    this.name = 'ContractError';
    this.mistakes = mistakes;
  }
}

/** An object literal that a person fills in, and the members that the contract asks of it. */
export interface Stub {
  /** Path from the repository root. */
  file: string;
  /** Text of a new file up to and including the opening brace of the object literal. */
  header: string;
  /** Text of a new file from the closing brace on. */
  footer: string;
  /** The exported constant or function that declares or returns the object literal. */
  exportName: string;
  /** `text` is a whole member with its trailing comma and without its indentation. */
  members: readonly { name: string; text: string }[];
  /** The file that takes it up, and the lines that do so there; `--stub` tells them where they are missing. */
  use?: { file: string; lines: readonly string[] };
}

/** What one generator makes of its documents. */
export interface Generated {
  /** Path below `src/generated` → text. */
  files: ReadonlyMap<string, string>;
  /** Names that appear in generated text → the contract line behind them. */
  origins: ReadonlyMap<string, Location>;
  /** For a file whose lines say more than names do: path → the contract line behind a line, from 1. */
  lineOrigins?: ReadonlyMap<string, (line: number) => Location | undefined>;
  /** Skeletons that `--stub` may write. */
  stubs: readonly Stub[];
}

/**
 * Makes files from documents (path from the repository root → text). Pure: equal
 * documents give equal bytes, and nothing is written.
 *
 * @throws ContractError with every mistake in the documents.
 */
export type Generate = (documents: ReadonlyMap<string, string>) => Promise<Generated>;

/** One row of the table in `codegen.ts`: documents in, files out. */
export interface Target {
  name: string;
  /** Paths from the repository root; a `*` in the file name stands for any characters. */
  documents: readonly string[];
  /** Loads the generator, which is left unloaded while nothing changed. */
  load: () => Promise<Generate>;
}
