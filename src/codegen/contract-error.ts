/** A position in a contract document. Lines and columns start at 1. */
export interface Location {
  /** The document's path from the repository root. */
  file: string;
  line: number;
  column: number;
}

/** An error in a contract document, with its position. */
export interface Diagnostic extends Location {
  message: string;
}

/** Thrown when contract documents have errors; carries all of them. */
export class ContractError extends Error {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`).join('\n'));
    this.name = 'ContractError';
    this.diagnostics = diagnostics;
  }
}
