import { setTimeout } from 'node:timers/promises';

/** Much longer than any check takes, even on a busy machine. A correct program never reaches it. */
export const PATIENCE_MS = 60_000;

/**
 * Repeats a check until it passes; after the timeout, throws the error of the last attempt. Pauses longer than a check
 * takes, so that a slow check leaves the processor to what it waits for.
 */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ;) {
    const startedAt = performance.now();
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(10 + 2 * (performance.now() - startedAt));
    }
  }
}
