/** Runs what it is given, a bounded number at the same time. */
export type InTurn = <T>(run: () => Promise<T>) => Promise<T>;

/** Runs at most `count` at the same time, the others in the order they came. */
export function inTurn(count: number): InTurn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running === count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Runs once for all who ask for the same key at the same time; later ones run it again. */
export function onceAtATime<T>(): (key: string, run: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key, run) => {
    const known = underWay.get(key);
    if (known) return known;
    const started = run().finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
