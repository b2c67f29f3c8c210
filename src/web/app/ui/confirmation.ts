import { signal } from '@preact/signals';

interface Armed {
  readonly id: string;
  readonly question: string;
}

/** The pending confirmation; a page has at most one. */
export const pendingConfirmation = signal<Armed | undefined>(undefined);

export function cancelConfirmation(): void {
  pendingConfirmation.value = undefined;
}

/** How long a confirmation waits. */
const TIMEOUT_MS = 8_000;

/** Touch screens report a hover after a touch has ended, so hovering counts only for a real pointer. */
const HOVERS = matchMedia('(hover: hover)');

/**
 * Cancels the confirmation in `box` after eight seconds, or at once on Escape, a press elsewhere or a loss of focus.
 * The time is paused while a pointer hovers over the box, while it has the keyboard focus, and while the page is hidden.
 *
 * @returns a function that stops watching
 */
export function watchConfirmation(box: HTMLElement): () => void {
  const listeners = new AbortController();
  const { signal: until } = listeners;
  const countDown = createCountDown(
    TIMEOUT_MS,
    () => document.hidden || isOver || box.querySelector(':focus-visible') !== null,
    cancelConfirmation,
  );
  let isOver = HOVERS.matches && box.matches(':hover');
  const over = (is: boolean) => (): void => {
    isOver = is && HOVERS.matches;
    countDown.update();
  };
  const isElsewhere = (target: EventTarget | null): boolean => !(target instanceof Node && box.contains(target));
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    // Escape must not also close the menu or dialog around the confirmation.
    event.stopPropagation();
    cancelConfirmation();
  };
  document.addEventListener('keydown', onKey, { capture: true, signal: until });
  document.addEventListener('visibilitychange', countDown.update, { signal: until });
  document.addEventListener('pointerdown', ({ target }) => isElsewhere(target) && cancelConfirmation(), {
    signal: until,
  });
  box.addEventListener('pointerenter', over(true), { signal: until });
  box.addEventListener('pointerleave', over(false), { signal: until });
  box.addEventListener('focusin', countDown.update, { signal: until });
  box.addEventListener(
    'focusout',
    // Switching to another window also fires focusout, but does not move the focus of the page.
    ({ relatedTarget }) => document.hasFocus() && isElsewhere(relatedTarget) && cancelConfirmation(),
    { signal: until },
  );
  countDown.update();
  return () => {
    listeners.abort();
    countDown.stop();
  };
}

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
