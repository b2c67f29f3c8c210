/**
 * Does one try's work within `timeoutMs`, 0 for no limit.
 *
 * The signal that `work` is given also follows `caller` afterwards, so that an
 * answer still streaming can be aborted.
 *
 * @throws A `TimeoutError` when the time is over, the caller's reason when it
 * aborts, else what `work` threw.
 */
export async function attempt<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { caller, timeoutMs }: { readonly caller: AbortSignal; readonly timeoutMs: number },
): Promise<T> {
  caller.throwIfAborted();
  const controller = new AbortController();
  caller.addEventListener('abort', () => controller.abort(caller.reason));
  const timer = timeoutMs === 0 ? undefined : setTimeout(() => controller.abort(toTimeoutError(timeoutMs)), timeoutMs);
  try {
    return await work(controller.signal);
  } catch (failure) {
    // Runtimes differ in what they throw after an abort.
    throw controller.signal.aborted ? controller.signal.reason : failure;
  } finally {
    clearTimeout(timer);
  }
}

function toTimeoutError(timeoutMs: number): DOMException {
  return new DOMException(`No complete answer within ${timeoutMs} ms`, 'TimeoutError');
}
