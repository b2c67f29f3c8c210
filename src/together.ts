interface Asking<Given, Outcome> {
  readonly given: Given;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs once for several that ask: those that come while a run is under way share
 * the next, up to `most` of them in the order they came. None is taken into a run
 * that may have looked at something before it came.
 *
 * @param run Gives an outcome for each that it takes, in their order. It must take
 * before it looks at anything, and may take late; taken again they are the same.
 */
export function together<Given, Outcome>(
  most: number,
  run: (take: () => readonly Given[]) => Promise<readonly Outcome[]>,
): (given: Given) => Promise<Outcome> {
  const waiting: Asking<Given, Outcome>[] = [];
  let isRunning = false;

  async function runOnce(): Promise<void> {
    const taken: Asking<Given, Outcome>[] = [];
    const take = (): Given[] => {
      if (taken.length === 0) taken.push(...waiting.splice(0, most));
      return taken.map(({ given }) => given);
    };
    try {
      const outcomes = await run(take);
      // As many as were taken.
      for (const [place, { resolve }] of taken.entries()) resolve(outcomes[place] as Outcome);
    } catch (error) {
      // One that never began has taken nobody along yet.
      for (const { reject } of taken.length > 0 ? taken : waiting.splice(0)) reject(error);
    }
  }

  /** Those whose requests follow on each other go together: as long as another one has come in a turn, so may the next. */
  async function gather(): Promise<void> {
    let known = 0;
    while (waiting.length > known && waiting.length < most) {
      known = waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (waiting.length > 0) {
      await gather();
      await runOnce();
    }
    isRunning = false;
  }

  return async (given) =>
    new Promise((resolve, reject) => {
      waiting.push({ given, resolve, reject });
      void runAll();
    });
}
