/** Splits queries into a size that GitHub can process within its limit of 10 seconds. */
import { ForgeError } from '../forge-error.js';

/** More in one query take GitHub longer as a rule. */
const MAX_SIZE = 20;

/** When so many items in a row fail alone, the items are not the cause: GitHub itself is failing. */
const MAX_FAILURES = 3;

export interface Batches {
  /**
   * Reads items in batches. When GitHub gives up on a batch, half of it is tried; an item that fails alone is left out.
   *
   * @returns What was read, and the items that GitHub gave up on.
   * @throws ForgeError of the last item when several in a row fail alone; any other error of `read` at once.
   */
  read<T, R>(
    items: readonly T[],
    read: (batch: readonly T[]) => Promise<R>,
  ): Promise<{ readonly results: R[]; readonly failed: T[] }>;
}

/** The size of the batches is remembered from one reading to the next; it grows by one with each full batch. */
export function createBatches(): Batches {
  let size = MAX_SIZE;
  return {
    async read<T, R>(items: readonly T[], read: (batch: readonly T[]) => Promise<R>) {
      const results: R[] = [];
      const failed: T[] = [];
      let inARow = 0;
      for (let start = 0; start < items.length;) {
        const batch = items.slice(start, start + size);
        try {
          results.push(await read(batch));
          start += batch.length;
          inARow = 0;
          if (batch.length === size) size = Math.min(size + 1, MAX_SIZE);
        } catch (error) {
          if (!isTooHeavy(error)) throw error;
          size = Math.max(Math.floor(batch.length / 2), 1);
          if (batch.length > 1) continue;
          inARow += 1;
          if (inARow === MAX_FAILURES) throw error;
          failed.push(...batch);
          start += 1;
        }
      }
      return { results, failed };
    },
  };
}

/** Whether a smaller query may succeed. */
export const isTooHeavy = (error: unknown): boolean => error instanceof ForgeError && error.timedOut;
