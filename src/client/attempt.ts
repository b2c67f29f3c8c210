interface AttemptSettings<T> {
  readonly caller: AbortSignal;
  /** 0 for no limit. */
  readonly timeoutMs: number;
  /** Whether there is more to come of an answer. */
  readonly goesOn: (answer: T) => boolean;
}

/**
 * Does one try's work within `timeoutMs`.
 *
 * The signal that `work` is given follows `caller`, also afterwards if the answer
 * `goesOn`, so that one still streaming can be aborted.
 *
 * @throws A `TimeoutError` when the time is over, the caller's reason when it
 * aborts, else what `work` threw.
 */
export async function attempt<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { caller, timeoutMs, goesOn }: AttemptSettings<T>,
): Promise<T> {
  caller.throwIfAborted();
  const controller = new AbortController();
  const follow = () => controller.abort(caller.reason);
  caller.addEventListener('abort', follow);
  const timer = timeoutMs === 0 ? undefined : setTimeout(() => controller.abort(toTimeoutError(timeoutMs)), timeoutMs);
  let isOver = true;
  try {
    const answer = await work(controller.signal);
    isOver = !goesOn(answer);
    return answer;
  } catch (failure) {
    // Runtimes differ in what they throw after an abort.
    throw controller.signal.aborted ? controller.signal.reason : failure;
  } finally {
    clearTimeout(timer);
    // The next try adds its own, and over ten of one signal Node warns of a leak.
    if (isOver) caller.removeEventListener('abort', follow);
  }
}

function toTimeoutError(timeoutMs: number): DOMException {
  return new DOMException(`No complete answer within ${timeoutMs} ms`, 'TimeoutError');
}
