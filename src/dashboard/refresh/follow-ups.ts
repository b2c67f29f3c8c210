import type { OnRefreshed } from './refresher.js';

/** What is done after readings, without anybody waiting for it. */
export interface FollowUps {
  begin: (...refreshed: Parameters<OnRefreshed>) => void;
  /** Waits for those that are under way. */
  close(): Promise<void>;
}

export function createFollowUps(onRefreshed: OnRefreshed | undefined, report: (error: unknown) => void): FollowUps {
  const underWay = new Set<Promise<void>>();
  return {
    begin(personId, forges, rows) {
      if (onRefreshed === undefined || forges.size === 0) return;
      const one = onRefreshed(personId, forges, rows)
        .catch(report)
        .finally(() => underWay.delete(one));
      underWay.add(one);
    },
    async close() {
      await Promise.all(underWay);
    },
  };
}
