import { setTimeout as sleep } from 'node:timers/promises';

/** Tells whoever follows a board that it changed. */
export interface BoardChanges {
  notify(personId: string): void;
  /** From now on, nothing is missed. The caller ends it with `close()`. */
  follow(personId: string): BoardFollower;
}

export interface BoardFollower {
  /** Waits for a change since the last call or the start; several count as one. Ends without one when told. */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** How changes that other processes make are noticed. */
export interface BoardWatch {
  /** Gives what tells one board from the next, by person, without those who are gone. */
  readonly readVersions: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  readonly everyMs: number;
}

/** All boards that are followed in this process are looked at together, while there are any. */
export function createBoardChanges(watch?: BoardWatch): BoardChanges {
  const listeners = new Map<string, Set<() => void>>();
  const notify = (personId: string): void => {
    for (const listener of listeners.get(personId) ?? []) listener();
  };
  let isLooking = false;

  async function look({ readVersions, everyMs }: BoardWatch): Promise<void> {
    let known: ReadonlyMap<string, string> = new Map();
    while (listeners.size > 0) {
      await sleep(everyMs, undefined, { ref: false });
      const followed = [...listeners.keys()];
      // Without the database there is no news; it is asked again.
      const versions = await readVersions(followed).catch(() => known);
      // Whoever has just come may have seen an older board than this look.
      for (const personId of followed) if (known.get(personId) !== versions.get(personId)) notify(personId);
      known = versions;
    }
    isLooking = false;
  }

  return {
    notify,
    follow(personId) {
      const own = listeners.get(personId) ?? new Set();
      listeners.set(personId, own);
      const follower = createFollower((listener) => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(personId) === own) listeners.delete(personId);
      });
      own.add(follower.listener);
      if (watch !== undefined && !isLooking) {
        isLooking = true;
        void look(watch);
      }
      return follower;
    },
  };
}

function createFollower(leave: (listener: () => void) => void): BoardFollower & { readonly listener: () => void } {
  let isPending = false;
  let wake: (() => void) | undefined;
  const listener = (): void => {
    isPending = true;
    wake?.();
  };
  return {
    listener,
    async next(signal) {
      if (!isPending) await wakened((done) => (wake = done), signal);
      isPending = false;
      wake = undefined;
    },
    close: () => leave(listener),
  };
}

async function wakened(listen: (wake: () => void) => void, signal: AbortSignal): Promise<void> {
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
