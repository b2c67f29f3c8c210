/** Runs for whoever asks, in a run that starts after they asked: those who ask while one is under way share the next. */
export type Coalesced<T = void> = (key: string, run: () => Promise<T>) => Promise<T>;

interface Runs<T> {
  running: Promise<T>;
  next?: Promise<T> | undefined;
}

/** Of one key there is one run at a time. */
export function coalesced<T = void>(): Coalesced<T> {
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
