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

/** A value of the process that is read when its metrics are. */
export interface Gauge {
  /** In the style of Prometheus: with a unit such as `_seconds` or `_bytes`. */
  readonly name: string;
  readonly help: string;
  /** The name of the label, if there is a value for each of several things. */
  readonly label?: string;
  /** Returns the value, or the values by label; `undefined` for none at present. */
  read(): GaugeValue | Promise<GaugeValue>;
}

type GaugeValue = number | Readonly<Record<string, number>> | undefined;

/** The gauges of a process. The parts of the server register their own. */
export interface Gauges {
  register(...gauges: readonly Gauge[]): void;
  list(): readonly Gauge[];
}

export function createGauges(): Gauges {
  const all: Gauge[] = [];
  return {
    register: (...gauges) => void all.push(...gauges),
    list: () => all,
  };
}
