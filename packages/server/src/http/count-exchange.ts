/** Exchanges rate limit counts between the processes of a server, through the one that started the others. */
import { type CountExchange, createRateCounter, type RateCounter } from './rate-limits.js';

/** Counts that a process has added since its last report: the name of the counter, the key, and the number. */
export type AddedCounts = readonly (readonly [name: string, key: string, added: number])[];

/** Counts of all processes together: the name of the counter, the key, the count, and the time until its window ends. */
export type TotalCounts = readonly (readonly [name: string, key: string, taken: number, resetsInMs: number])[];

/** Between two messages. Processes may exceed a limit by the requests of about twice this time. */
const INTERVAL_MS = 5;

/** Collects items by name and key, and passes them on together. */
function createBatch<T>(send: (items: ReadonlyMap<string, ReadonlyMap<string, T>>) => void) {
  let waiting = new Map<string, Map<string, T>>();
  return (name: string, key: string, update: (known: T | undefined) => T): void => {
    if (waiting.size === 0) {
      setTimeout(() => {
        const items = waiting;
        waiting = new Map();
        send(items);
      }, INTERVAL_MS).unref();
    }
    const keys = waiting.get(name) ?? new Map<string, T>();
    waiting.set(name, keys);
    keys.set(key, update(keys.get(key)));
  };
}

interface ReceivingExchange extends CountExchange {
  /** Raises the counters of this process. */
  receive(counts: TotalCounts): void;
}

/** Creates the exchange of a process that serves requests. */
export function createCountExchange(send: (counts: AddedCounts) => void): ReceivingExchange {
  const raises = new Map<string, Parameters<CountExchange['join']>[1]>();
  const add = createBatch<number>((items) => {
    send([...items].flatMap(([name, keys]) => [...keys].map(([key, added]) => [name, key, added] as const)));
  });
  return {
    join(name, raise) {
      raises.set(name, raise);
      return (key) => add(name, key, (known = 0) => known + 1);
    },
    receive(counts) {
      for (const [name, key, taken, resetsInMs] of counts) raises.get(name)?.(key, { taken, resetsInMs });
    },
  };
}

/** Creates the function that adds the counts of all processes, and sends the sums to all of them. */
export function createCountHub(
  broadcast: (counts: TotalCounts) => void,
  now?: () => number,
): (counts: AddedCounts) => void {
  const counters = new Map<string, RateCounter>();
  const share = createBatch<readonly [taken: number, resetsInMs: number]>((items) => {
    broadcast([...items].flatMap(([name, keys]) => [...keys].map(([key, count]) => [name, key, ...count] as const)));
  });
  return (counts) => {
    for (const [name, key, added] of counts) {
      const counter = counters.get(name) ?? createRateCounter(now);
      counters.set(name, counter);
      const { taken, resetsInMs } = counter.take(key, added);
      share(name, key, () => [taken, resetsInMs]);
    }
  };
}
