/** Splits queries into batches that GitHub can process within its limit of 10 seconds. */
import { ForgeError } from '../forge-error.js';

/** GitHub usually exceeds its time limit with more. */
const MAX_SIZE = 20;

/** When this many single items fail in a row, GitHub itself is failing. */
const MAX_FAILURES = 3;

export interface BatchReader {
  /**
   * Reads items in batches. Halves a batch that times out at GitHub, and skips an item that times out alone.
   *
   * @returns The results, and the items that timed out.
   * @throws ForgeError of the last item when several in a row time out alone; any other error of `read` immediately.
   */
  read<T, R>(
    items: readonly T[],
    read: (batch: readonly T[]) => Promise<R>,
  ): Promise<{ readonly results: R[]; readonly failed: T[] }>;
}

/** Creates a reader that remembers the batch size between calls. The size grows by one with each full batch. */
export function createBatchReader(): BatchReader {
  let size = MAX_SIZE;
  return {
    async read<T, R>(items: readonly T[], read: (batch: readonly T[]) => Promise<R>) {
      const results: R[] = [];
      const failed: T[] = [];
      let consecutiveFailures = 0;
      for (let start = 0; start < items.length;) {
        const batch = items.slice(start, start + size);
        try {
          results.push(await read(batch));
          start += batch.length;
          consecutiveFailures = 0;
          if (batch.length === size) size = Math.min(size + 1, MAX_SIZE);
        } catch (error) {
          if (!isTimeout(error)) throw error;
          size = Math.max(Math.floor(batch.length / 2), 1);
          if (batch.length > 1) continue;
          consecutiveFailures += 1;
          if (consecutiveFailures === MAX_FAILURES) throw error;
          failed.push(...batch);
          start += 1;
        }
      }
      return { results, failed };
    },
  };
}

/** Reports whether a query timed out, so that a smaller one may succeed. */
export const isTimeout = (error: unknown): boolean => error instanceof ForgeError && error.timedOut;
