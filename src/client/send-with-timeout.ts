interface AttemptSettings<T> {
  readonly caller: AbortSignal;
  /** 0 for no limit. */
  readonly timeoutMs: number;
  /** Whether the body of the response is still being received. */
  readonly isStreaming: (result: T) => boolean;
}

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or with the signal of the caller. While the result
 * `isStreaming`, the signal of the caller can abort it after this function has returned.
 *
 * @throws A `TimeoutError` after `timeoutMs`, the abort reason of the caller, or the error of `work`.
 */
export async function sendWithTimeout<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { caller, timeoutMs, isStreaming }: AttemptSettings<T>,
): Promise<T> {
  caller.throwIfAborted();
  const controller = new AbortController();
  const forwardAbort = () => controller.abort(caller.reason);
  caller.addEventListener('abort', forwardAbort);
  const timer = timeoutMs === 0 ? undefined : setTimeout(() => controller.abort(toTimeoutError(timeoutMs)), timeoutMs);
  let isDone = true;
  try {
    const result = await work(controller.signal);
    isDone = !isStreaming(result);
    return result;
  } catch (error) {
    // Runtimes throw different errors after an abort.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    // Each attempt adds a listener, and Node warns about a leak above ten listeners on one signal.
    if (isDone) caller.removeEventListener('abort', forwardAbort);
  }
}

function toTimeoutError(timeoutMs: number): DOMException {
  return new DOMException(`No complete response within ${timeoutMs} ms`, 'TimeoutError');
}
