import { useState } from 'preact/hooks';
import { useAction } from './action-button.js';

/** How long the button shows "Copied". */
const COPIED_MS = 2_000;

interface CopyButtonProps {
  readonly value: string;
  /** The copied thing, to distinguish the buttons of a page for screen readers. */
  readonly what?: string;
  /** The label of the button. */
  readonly name?: string;
}

export function CopyButton({ value, what, name = 'Copy' }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  const [, copy] = useAction(async () => {
    await navigator.clipboard.writeText(value);
    setDone(true);
    setTimeout(() => setDone(false), COPIED_MS);
  });
  const text = isDone ? 'Copied' : name;
  return (
    <button type="button" aria-label={what === undefined ? undefined : `${text} ${what}`} onClick={copy}>
      <span aria-live="polite">{text}</span>
    </button>
  );
}
