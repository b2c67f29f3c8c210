import { useState } from 'preact/hooks';
import { useAction } from './action-button.js';

/** How long the button says that it was done. */
const SAID_MS = 2_000;

export function CopyButton({ value, what }: { readonly value: string; readonly what?: string }) {
  const [isDone, setDone] = useState(false);
  const [, copy] = useAction(async () => {
    await navigator.clipboard.writeText(value);
    setDone(true);
    setTimeout(() => setDone(false), SAID_MS);
  });
  const text = isDone ? 'Copied' : 'Copy';
  return (
    <button type="button" aria-label={what === undefined ? undefined : `${text} ${what}`} onClick={copy}>
      <span aria-live="polite">{text}</span>
    </button>
  );
}
