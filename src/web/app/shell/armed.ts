import { signal } from '@preact/signals';

interface Armed {
  readonly id: string;
  readonly question: string;
}

/** The one button of the page that asks whether it was meant. */
export const armed = signal<Armed | undefined>(undefined);

export function disarm(): void {
  armed.value = undefined;
}

/** Time to read what is about to happen, and to turn away from it. */
const ARMED_MS = 8_000;

/** Fingers leave what they touch at once, though the browser says that they stay. */
const HOVERS = matchMedia('(hover: hover)');

/**
 * Takes the question in a box back after eight seconds, or at once by Escape, a touch elsewhere, or when the focus leaves.
 * Time stands still while a pointer rests on it, while the keyboard is there, and while the page can't be seen.
 */
export function watchArmed(box: HTMLElement): () => void {
  const listeners = new AbortController();
  const { signal: until } = listeners;
  const countDown = createCountDown(() => document.hidden || isOver || box.querySelector(':focus-visible') !== null);
  let isOver = HOVERS.matches && box.matches(':hover');
  const over = (is: boolean) => (): void => {
    isOver = is && HOVERS.matches;
    countDown.update();
  };
  const isElsewhere = (target: EventTarget | null): boolean => !(target instanceof Node && box.contains(target));
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    // Whatever the question stands in stays open.
    event.stopPropagation();
    disarm();
  };
  document.addEventListener('keydown', onKey, { capture: true, signal: until });
  document.addEventListener('visibilitychange', countDown.update, { signal: until });
  document.addEventListener('pointerdown', ({ target }) => isElsewhere(target) && disarm(), { signal: until });
  box.addEventListener('pointerenter', over(true), { signal: until });
  box.addEventListener('pointerleave', over(false), { signal: until });
  box.addEventListener('focusin', countDown.update, { signal: until });
  box.addEventListener(
    'focusout',
    // A window that is left keeps its focus for when it is come back to.
    ({ relatedTarget }) => document.hasFocus() && isElsewhere(relatedTarget) && disarm(),
    { signal: until },
  );
  countDown.update();
  return () => {
    listeners.abort();
    countDown.stop();
  };
}

function createCountDown(isHeld: () => boolean) {
  let left = ARMED_MS;
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
    if (isHeld()) return;
    since = performance.now();
    timer = setTimeout(disarm, left);
  };
  return { stop, update };
}
