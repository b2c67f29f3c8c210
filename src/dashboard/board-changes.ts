import { setTimeout as sleep } from 'node:timers/promises';

/** Notifies subscribers in this process that a board changed. */
export interface BoardChanges {
  notify(personId: string): void;
  /** Subscribes to a board: no change after this call is missed. The caller must `close()` the subscription. */
  subscribe(personId: string): BoardSubscription;
}

export interface BoardSubscription {
  /**
   * Waits for a change since the last call, or since the subscription began. Several changes count as one. Resolves
   * without a change when the signal aborts.
   */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Polling for changes that other processes make. */
export interface ChangePolling {
  /** Returns version identifiers by user. Deleted users are missing. */
  readonly readVersions: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly everyMs: number;
}

/** Polls all boards that have subscribers in this process together, as long as there are any. */
export function createBoardChanges(watch?: ChangePolling): BoardChanges {
  const listeners = new Map<string, Set<() => void>>();
  const notify = (personId: string): void => {
    for (const listener of listeners.get(personId) ?? []) listener();
  };
  let isPolling = false;

  async function poll({ readVersions, everyMs }: ChangePolling): Promise<void> {
    let known: ReadonlyMap<string, string> = new Map();
    while (listeners.size > 0) {
      await sleep(everyMs, undefined, { ref: false });
      const subscribed = [...listeners.keys()];
      // A failed database read counts as no change; the next poll tries again.
      const versions = await readVersions(subscribed).catch(() => known);
      // This also notifies new subscribers, who may have read an older board than this poll.
      for (const personId of subscribed) if (known.get(personId) !== versions.get(personId)) notify(personId);
      known = versions;
    }
    isPolling = false;
  }

  return {
    notify,
    subscribe(personId) {
      const own = listeners.get(personId) ?? new Set();
      listeners.set(personId, own);
      const subscription = createSubscription((listener) => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(personId) === own) listeners.delete(personId);
      });
      own.add(subscription.listener);
      if (watch !== undefined && !isPolling) {
        isPolling = true;
        void poll(watch);
      }
      return subscription;
    },
  };
}

function createSubscription(
  unsubscribe: (listener: () => void) => void,
): BoardSubscription & { readonly listener: () => void } {
  let isPending = false;
  let wake: (() => void) | undefined;
  const listener = (): void => {
    isPending = true;
    wake?.();
  };
  return {
    listener,
    async next(signal) {
      if (!isPending) await wakeUp((done) => (wake = done), signal);
      isPending = false;
      wake = undefined;
    },
    close: () => unsubscribe(listener),
  };
}

async function wakeUp(listen: (wake: () => void) => void, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    listen(done);
  });
}
