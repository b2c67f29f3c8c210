/** Tells whoever follows a board that it changed, within this process. */
export interface BoardChanges {
  notify(personId: string): void;
  /** From now on, nothing is missed. The caller ends it with `close()`. */
  follow(personId: string): BoardFollower;
}

export interface BoardFollower {
  /** Waits for a change since the last call or the start; several count as one. Ends without one when told, or in time. */
  next(until: { readonly signal: AbortSignal; readonly milliseconds: number }): Promise<void>;
  close(): void;
}

export function createBoardChanges(): BoardChanges {
  const listeners = new Map<string, Set<() => void>>();
  return {
    notify(personId) {
      for (const listener of listeners.get(personId) ?? []) listener();
    },
    follow(personId) {
      const own = listeners.get(personId) ?? new Set();
      listeners.set(personId, own);
      let isPending = false;
      let wake: (() => void) | undefined;
      const listener = (): void => {
        isPending = true;
        wake?.();
      };
      own.add(listener);
      return {
        async next({ signal, milliseconds }) {
          if (!isPending) await wakened((done) => (wake = done), { signal, milliseconds });
          isPending = false;
          wake = undefined;
        },
        close() {
          own.delete(listener);
          if (own.size === 0 && listeners.get(personId) === own) listeners.delete(personId);
        },
      };
    },
  };
}

async function wakened(
  listen: (wake: () => void) => void,
  { signal, milliseconds }: { readonly signal: AbortSignal; readonly milliseconds: number },
): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    listen(done);
  });
}
