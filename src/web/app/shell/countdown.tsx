import { useEffect, useState } from 'preact/hooks';

/** How long it is until a moment, second by second. Not for screen readers, to whom every second would be told. */
export function Countdown({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class="countdown" aria-hidden="true">
      {toDuration(Math.max(0, Math.ceil((until - now) / 1000)))}
    </span>
  );
}

/** As "59 min 3 s". */
export function toDuration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
