import { useEffect, useRef, useState } from 'preact/hooks';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * How long it is until a moment, second by second while it is in view; minute by minute for whoever wants little to move.
 * Not for screen readers, to whom every second would be told.
 */
export function Countdown({ until }: { readonly until: number }) {
  const place = useRef<HTMLSpanElement>(null);
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const { current } = place;
    return current === null
      ? undefined
      : whileInView(current, () => setNow(Date.now()), isCalm ? MINUTE_MS : SECOND_MS);
  }, [isCalm]);
  const seconds = Math.max(0, Math.ceil((until - now) / SECOND_MS));
  return (
    <span ref={place} class="countdown" aria-hidden="true">
      {isCalm ? toMinutes(seconds) : toDuration(seconds)}
    </span>
  );
}

/** Does something at once as an element comes into view, and then again and again until it leaves. */
function whileInView(element: Element, act: () => void, everyMs: number): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const observer = new IntersectionObserver((entries) => {
    clearInterval(timer);
    if (entries.at(-1)?.isIntersecting !== true) return;
    act();
    timer = setInterval(act, everyMs);
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    clearInterval(timer);
  };
}

/** As "59 min 3 s". */
export function toDuration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const toMinutes = (seconds: number): string => `${Math.ceil(seconds / 60)} min`;
