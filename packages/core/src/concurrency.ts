/** Runs a function as soon as the concurrency limit allows. The weight is 1 unless given. */
export interface ConcurrencyLimit {
  <T>(run: () => Promise<T>, weight?: number): Promise<T>;
  /** Returns how many calls run, and how many wait. */
  count(): CallCounts;
}

export interface CallCounts {
  readonly running: number;
  readonly waiting: number;
}

interface QueuedCall {
  readonly weight: number;
  readonly start: () => void;
}

/**
 * Creates a limit on calls that run at the same time. Further calls start in the order of their arrival.
 *
 * @param capacity The largest total weight of the running calls. A heavier call counts as this much, and runs alone.
 */
export function limitConcurrency(capacity: number): ConcurrencyLimit {
  const queue: QueuedCall[] = [];
  let used = 0;
  let running = 0;

  function startNext(): void {
    for (let next = queue[0]; next && used + next.weight <= capacity; next = queue[0]) {
      queue.shift();
      used += next.weight;
      next.start();
    }
  }

  const limit = async <T>(run: () => Promise<T>, weight = 1): Promise<T> => {
    const ownWeight = Math.min(weight, capacity);
    await new Promise<void>((start) => {
      queue.push({ weight: ownWeight, start });
      startNext();
    });
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
      used -= ownWeight;
      startNext();
    }
  };
  return Object.assign(limit, { count: () => ({ running, waiting: queue.length }) });
}

/** Creates a function that shares one run between concurrent calls with the same key. Later calls run again. */
export function singleFlight<T>(): (key: string, run: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, run) => {
    const current = running.get(key);
    if (current) return current;
    const started = run().finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}

/** Runs a function after each call: all calls during a run share the next one. */
type TrailingSingleFlight<T = void> = (key: string, run: () => Promise<T>) => Promise<T>;

interface Runs<T> {
  running: Promise<T>;
  next?: Promise<T>;
}

/** Creates a function that runs work at most once at a time per key. */
export function singleFlightWithTrailingRun<T = void>(): TrailingSingleFlight<T> {
  const runsOf = new Map<string, Runs<T>>();

  function start(key: string, run: () => Promise<T>): Promise<T> {
    const runs: Runs<T> = { running: run() };
    runsOf.set(key, runs);
    const forget = (): void => {
      if (runsOf.get(key) === runs && runs.next === undefined) runsOf.delete(key);
    };
    void runs.running.then(forget, forget);
    return runs.running;
  }

  return (key, run) => {
    const runs = runsOf.get(key);
    if (runs === undefined) return start(key, run);
    const begin = (): Promise<T> => start(key, run);
    runs.next ??= runs.running.then(begin, begin);
    return runs.next;
  };
}

/**
 * Runs a function with a signal that aborts with another signal, or after a time with a `TimeoutError`. Combining the
 * signal with `AbortSignal.timeout()` is not enough: the next garbage collection of Node 20 drops the timer
 * (https://github.com/nodejs/node/issues/57736). The timer does not keep the process alive.
 */
export async function runWithin<T>(
  milliseconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const onLate = (): void => late.abort(new DOMException(`It took more than ${milliseconds} ms.`, 'TimeoutError'));
  const timer = setTimeout(onLate, milliseconds).unref();
  try {
    return await run(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Small, so that few requests are still running when one fails. */
const CHUNK = 8;

/** Maps items in order, with up to 8 calls at a time. The first failure ends it. */
export async function mapWithConcurrency<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const mapped: R[] = [];
  for (let start = 0; start < items.length; start += CHUNK) {
    mapped.push(...(await Promise.all(items.slice(start, start + CHUNK).map(map))));
  }
  return mapped;
}

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
