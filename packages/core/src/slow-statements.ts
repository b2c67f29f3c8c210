/** A statement of a database that took long. Its text has placeholders instead of values. */
export interface SlowStatement {
  readonly text: string;
  readonly milliseconds: number;
  /** Reads how the database runs the statement. */
  explain(): Promise<string> | string;
}

/** Receives the slow statements of a database. */
export interface StatementWatch {
  /** Statements that take at least this long are reported. */
  readonly slowMs: number;
  readonly onSlow: (statement: SlowStatement) => void;
  /** Receives every statement of the user data when it has ended. */
  readonly onStatement?: (text: string, milliseconds: number) => void;
}
