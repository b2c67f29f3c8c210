/** Runs a function after each call: all calls during a run share the next one. */
export type TrailingSingleFlight<T = void> = (key: string, run: () => Promise<T>) => Promise<T>;

interface Runs<T> {
  running: Promise<T>;
  next?: Promise<T> | undefined;
}

/** Creates a function that runs work at most once at a time per key. */
export function singleFlightWithTrailingRun<T = void>(): TrailingSingleFlight<T> {
  const runsOf = new Map<string, Runs<T>>();

  function start(key: string, run: () => Promise<T>): Promise<T> {
    const runs: Runs<T> = { running: run() };
    runsOf.set(key, runs);
    const forget = (): void => {
      if (runsOf.get(key) === runs && runs.next === undefined) runsOf.delete(key);
    };
    void runs.running.then(forget, forget);
    return runs.running;
  }

  return (key, run) => {
    const runs = runsOf.get(key);
    if (runs === undefined) return start(key, run);
    const begin = (): Promise<T> => start(key, run);
    runs.next ??= runs.running.then(begin, begin);
    return runs.next;
  };
}
