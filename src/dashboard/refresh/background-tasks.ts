import type { OnRefreshed } from './refresher.js';

/** Background work after refreshes, such as automation. */
export interface BackgroundTasks {
  start: (...refreshed: Parameters<OnRefreshed>) => void;
  /** Waits for the work in progress. */
  close(): Promise<void>;
}

export function createBackgroundTasks(
  onRefreshed: OnRefreshed | undefined,
  report: (error: unknown) => void,
): BackgroundTasks {
  const inProgress = new Set<Promise<void>>();
  return {
    start(personId, forges, rows) {
      if (onRefreshed === undefined || forges.size === 0) return;
      const one = onRefreshed(personId, forges, rows)
        .catch(report)
        .finally(() => inProgress.delete(one));
      inProgress.add(one);
    },
    async close() {
      await Promise.all(inProgress);
    },
  };
}
