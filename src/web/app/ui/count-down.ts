interface CountDown {
  /** Starts or pauses the time. Is called when `isPaused` may have changed. */
  readonly update: () => void;
  readonly stop: () => void;
}

/** Creates a timer of `ms` milliseconds that calls `onEnd`, and whose time stands still while `isPaused` is true. */
export function createCountDown(ms: number, isPaused: () => boolean, onEnd: () => void): CountDown {
  let left = ms;
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left -= performance.now() - since;
  };
  const update = (): void => {
    stop();
    if (isPaused()) return;
    since = performance.now();
    timer = setTimeout(onEnd, left);
  };
  return { stop, update };
}
