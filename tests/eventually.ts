import { setTimeout } from 'node:timers/promises';

/** Much longer than anything takes, on a busy machine too: what is right is never waited for so long. */
export const PATIENCE_MS = 60_000;

/** Tries again until nothing is thrown; fails as the last try did. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(10);
    }
  }
}
