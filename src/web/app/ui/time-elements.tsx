import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatDateTime, formatRelativeTime, serverNow } from './times.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * The time left until a moment. It is updated every second while it is in view, and every minute for users who prefer
 * reduced motion. It is hidden from screen readers, which would read out every update.
 */
export function Countdown({ until }: { readonly until: number }) {
  const place = useRef<HTMLSpanElement>(null);
  const isReduced = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const { current } = place;
    return current === null
      ? undefined
      : whileInView(current, () => setNow(serverNow()), isReduced ? MINUTE_MS : SECOND_MS);
  }, [isReduced]);
  const seconds = Math.max(0, Math.ceil((until - now) / SECOND_MS));
  return (
    <span ref={place} class="countdown" aria-hidden="true">
      {isReduced ? toMinutes(seconds) : formatDuration(seconds)}
    </span>
  );
}

/**
 * Calls `act` when an element comes into view and then repeatedly until it leaves. Returns a function that stops it.
 */
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

/** Formats a duration such as "59 min 3 s". */
export function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const toMinutes = (seconds: number): string => `${Math.ceil(seconds / 60)} min`;

/** Changes every minute. */
const minute = signal(0);

setInterval(() => (minute.value += 1), MINUTE_MS);

/**
 * A relative time, such as "3 days ago", which is updated every minute. The absolute time in the tooltip is formatted on hover, to save work in lists.
 */
export function RelativeTime({ time }: { readonly time: string }) {
  void minute.value;
  return (
    <time dateTime={time} onPointerEnter={({ currentTarget }) => (currentTarget.title = formatDateTime(time))}>
      {formatRelativeTime(time)}
    </time>
  );
}
