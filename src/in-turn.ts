/** Runs what it is given, as much at the same time as there is room for. */
export type InTurn = <T>(run: () => Promise<T>, weight?: number) => Promise<T>;

interface Waiting {
  readonly weight: number;
  readonly start: () => void;
}

/**
 * Runs at most `room` at the same time, each counting as much as it weighs
 * (1, or up to all the room), the others in the order they came.
 */
export function inTurn(room: number): InTurn {
  const waiting: Waiting[] = [];
  let taken = 0;

  function startNext(): void {
    for (let next = waiting[0]; next && taken + next.weight <= room; next = waiting[0]) {
      waiting.shift();
      taken += next.weight;
      next.start();
    }
  }

  return async (run, weight = 1) => {
    const own = Math.min(weight, room);
    await new Promise<void>((start) => {
      waiting.push({ weight: own, start });
      startNext();
    });
    try {
      return await run();
    } finally {
      taken -= own;
      startNext();
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
