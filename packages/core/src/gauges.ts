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
