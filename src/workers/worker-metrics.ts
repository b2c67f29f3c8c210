import type { FromWorker } from './primary-link.js';

/** A worker that takes longer is left out of the sums. */
const TIMEOUT_MS = 2_000;

interface PendingRead {
  readonly received: (readonly object[])[];
  readonly expected: number;
  readonly end: () => void;
}

/** Requests the metrics of the workers. */
export function createMetricsRequests(request: (id: number) => void) {
  const pending = new Map<number, PendingRead>();
  let last = 0;
  return {
    /** Returns the metrics of each worker that responds in time. */
    async read(expected = 0): Promise<readonly (readonly object[])[]> {
      last += 1;
      const id = last;
      const received: (readonly object[])[] = [];
      if (expected === 0) return received;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TIMEOUT_MS);
        const end = (): void => {
          clearTimeout(timer);
          resolve();
        };
        pending.set(id, { received, expected, end });
        request(id);
      });
      pending.delete(id);
      return received;
    },
    receive({ id, metrics }: FromWorker & { readonly kind: 'metrics' }): void {
      const read = pending.get(id);
      if (read === undefined) return;
      read.received.push(metrics);
      if (read.received.length === read.expected) read.end();
    },
  };
}
