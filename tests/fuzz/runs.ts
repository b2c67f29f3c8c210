/** The size and the seed of a fuzz run. */

/**
 * Every operation succeeds and fails several times. A run with the same seed sends the same requests, so more of them
 * would be found by the first run only; long runs with other seeds look for rare ones.
 */
const DEFAULT_REQUESTS = 1_000;

/** Requests for each service and mode; `FUZZ=100000 npm test -- tests/fuzz` sends more. */
export const REQUESTS = Number(process.env.FUZZ ?? DEFAULT_REQUESTS);

/** GraphQL documents for each mode. */
export const DOCUMENTS = Math.ceil(REQUESTS * 0.3);

/** `SEED=` repeats a run, or starts a different one. */
export const SEED = Number(process.env.SEED ?? 20_261_128);

/** A busy machine sends ten requests per second. */
export const RUN_TIMEOUT_MS = 180_000 + REQUESTS * 100;

export const MODES = [
  { mode: 'default', isProduction: false },
  { mode: 'production', isProduction: true },
] as const;

/** Enough to keep the server busy while the next requests are generated. */
const CONCURRENCY = 8;

/** Runs `work` for each item, several at a time. */
export async function runAll<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const runRest = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runRest));
}

/** A collection of distinct problems, with the places and counts of each, and the first request that caused it. */
export interface Problems {
  add(problem: string, where: string, reproduction: string): void;
  /** Returns an empty text if no problem was added. */
  report(): string;
}

/** The number of places listed for each problem. */
const MAX_PLACES = 12;

export function createProblems(): Problems {
  const found = new Map<string, { readonly places: Map<string, number>; readonly reproduction: string }>();
  return {
    add(problem, where, reproduction) {
      const { places } = found.get(problem) ?? { places: new Map<string, number>() };
      if (places.size === 0) found.set(problem, { places, reproduction });
      places.set(where, (places.get(where) ?? 0) + 1);
    },
    report: () =>
      [...found]
        .map(([problem, { places, reproduction }]) => {
          const listed = [...places].slice(0, MAX_PLACES).map(([place, count]) => `${place} (${count} times)`);
          const more = places.size > MAX_PLACES ? ` and ${places.size - MAX_PLACES} more` : '';
          return `${problem}: ${listed.join(', ')}${more}\n  ${reproduction}`;
        })
        .join('\n'),
  };
}
