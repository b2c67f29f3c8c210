/** A place in a contract document; lines and columns count from 1. */
export interface Location {
  /** The document's path from the repository root. */
  file: string;
  line: number;
  column: number;
}

/** An error in a contract and its place; the message names the expected and the received value. */
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
