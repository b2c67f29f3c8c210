/** Runs for whoever asks, in a run that starts after they asked: those who ask while one is under way share the next. */
export type Coalesced = (key: string, run: () => Promise<void>) => Promise<void>;

interface Runs {
  running: Promise<void>;
  next?: Promise<void> | undefined;
}

/** Of one key there is one run at a time. */
export function coalesced(): Coalesced {
  const runsOf = new Map<string, Runs>();

  function start(key: string, run: () => Promise<void>): Promise<void> {
    const runs: Runs = { running: run() };
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
    const begin = (): Promise<void> => start(key, run);
    runs.next ??= runs.running.then(begin, begin);
    return runs.next;
  };
}
