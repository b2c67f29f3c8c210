import type { AddedCounts, TotalCounts } from '@trellis/server/http/rate-limits';
import type { SharedRecords, SharedSite } from '../site-data/service.js';
import type { CleanupJob, CleanupStatus } from '../storage/cleanup-job.js';

/** The messages from the primary process to a worker. */
export type ToWorker =
  | { readonly kind: 'cleanup'; readonly status: CleanupStatus }
  | { readonly kind: 'counts'; readonly counts: TotalCounts }
  /** The key that the command of the configuration has printed. */
  | { readonly kind: 'key'; readonly key: string | undefined }
  | { readonly kind: 'level'; readonly level: string }
  | { readonly kind: 'metrics'; readonly id: number }
  | ({ readonly kind: 'records' } & SharedRecords)
  | { readonly kind: 'site'; readonly site: SharedSite }
  /** The boards that were due at the start of the server have been refreshed. */
  | { readonly kind: 'started' }
  | { readonly kind: 'stop' };

/** The messages from a worker to the primary process. */
export type FromWorker =
  | { readonly kind: 'cleanup' }
  | { readonly kind: 'counts'; readonly counts: AddedCounts }
  | { readonly kind: 'damage'; readonly reason: string }
  /** A query waits for the digest of a large file; the message has the digest that stands for it. */
  | { readonly kind: 'digest'; readonly pending: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'index'; readonly key: string }
  /** The worker needs the key that the primary process got from a command. */
  | { readonly kind: 'key' }
  /** The worker listens to messages, and needs the current state. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'metrics'; readonly id: number; readonly worker: number; readonly metrics: readonly object[] }
  /** The worker serves requests. */
  | { readonly kind: 'ready'; readonly origin: string }
  /** The worker serves the site, or knows why it can't be served. */
  | { readonly kind: 'site-settled' };

type Listener<Kind extends ToWorker['kind']> = (message: Extract<ToWorker, { readonly kind: Kind }>) => void;

/** The connection of a worker to the primary process. */
export interface PrimaryLink {
  send(message: FromWorker): void;
  on<Kind extends ToWorker['kind']>(kind: Kind, listener: Listener<Kind>): void;
  /** The cleanup, which runs in the primary process. */
  readonly cleanup: CleanupJob;
}

/** Connects this worker to the process that has started it. */
export function connectToPrimary(): PrimaryLink {
  const listeners = new Map<string, ((message: never) => void)[]>();
  let cleanup: CleanupStatus = { isRunning: true, endedAt: undefined, failures: 0 };
  process.on('message', (message: ToWorker) => {
    for (const listener of listeners.get(message.kind) ?? []) listener(message as never);
  });
  // Until the server listens, nothing else may keep the process running.
  process.channel?.ref();
  const link: PrimaryLink = {
    send(message) {
      // The process ends as soon as it is disconnected.
      if (process.connected) process.send?.(message);
    },
    on: (kind, listener) => void listeners.set(kind, [...(listeners.get(kind) ?? []), listener]),
    cleanup: {
      get status() {
        return cleanup;
      },
      runNow() {
        cleanup = { ...cleanup, isRunning: true };
        link.send({ kind: 'cleanup' });
      },
      close: async () => undefined,
    },
  };
  link.on('cleanup', ({ status }) => (cleanup = status));
  return link;
}
