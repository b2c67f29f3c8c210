interface PendingCall<Input, Result> {
  readonly input: Input;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Creates a function that batches concurrent calls. Calls that arrive during a run share the next one, up to `maxSize`
 * of them in the order of their arrival. A call never joins a run that may have read data before the call arrived.
 *
 * @param run Processes a batch, and returns one result for each input in the same order. It must call `take` before it
 * reads any data, and may call it late. Repeated calls of `take`, as in a retry, return the same inputs.
 * @param options.concurrency The number of runs at a time. If it is more than one, `run` must call `take` at once.
 */
export function batch<Input, Result>(
  maxSize: number,
  run: (take: () => readonly Input[]) => Promise<readonly Result[]>,
  { concurrency = 1 }: { readonly concurrency?: number } = {},
): (input: Input) => Promise<Result> {
  const waiting: PendingCall<Input, Result>[] = [];
  let running = 0;

  async function runOnce(): Promise<void> {
    const taken: PendingCall<Input, Result>[] = [];
    const take = (): Input[] => {
      if (taken.length === 0) taken.push(...waiting.splice(0, maxSize));
      return taken.map(({ input }) => input);
    };
    try {
      const results = await run(take);
      // `run` returns as many results as it took inputs.
      for (const [index, { resolve }] of taken.entries()) resolve(results[index] as Result);
    } catch (error) {
      // A run that failed before it took any input fails all waiting calls.
      for (const { reject } of taken.length > 0 ? taken : waiting.splice(0)) reject(error);
    }
  }

  /** Waits while every turn of the event loop brings another call, so that calls in quick succession share a run. */
  async function gather(): Promise<void> {
    let known = 0;
    while (waiting.length > known && waiting.length < maxSize) {
      known = waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function runAll(): Promise<void> {
    if (running === concurrency) return;
    running += 1;
    while (waiting.length > 0) {
      await gather();
      if (waiting.length > 0) await runOnce();
    }
    running -= 1;
  }

  return async (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      void runAll();
    });
}
