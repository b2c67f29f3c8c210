import { useState } from 'preact/hooks';
import { useAction } from './action-button.js';

/** How long the button says that it was done. */
const SAID_MS = 2_000;

interface CopyButtonProps {
  readonly value: string;
  /** For screen readers, where several are on one page. */
  readonly what?: string;
  /** What the button says, where that is not plain from its place. */
  readonly name?: string;
}

export function CopyButton({ value, what, name = 'Copy' }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  const [, copy] = useAction(async () => {
    await navigator.clipboard.writeText(value);
    setDone(true);
    setTimeout(() => setDone(false), SAID_MS);
  });
  const text = isDone ? 'Copied' : name;
  return (
    <button type="button" aria-label={what === undefined ? undefined : `${text} ${what}`} onClick={copy}>
      <span aria-live="polite">{text}</span>
    </button>
  );
}
