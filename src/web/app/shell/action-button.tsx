import { useState } from 'preact/hooks';
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { explain } from '../answers.js';
import { say } from './toasts.js';

interface ActionButtonProps extends Omit<ButtonHTMLAttributes, 'onClick'> {
  readonly onAct: () => Promise<void>;
  readonly children: ComponentChildren;
}

/** A button whose work takes time: it is done once at a time, keeps the focus meanwhile, and says why when it fails. */
export function ActionButton({ onAct, children, ...attributes }: ActionButtonProps) {
  const [isBusy, act] = useAction(onAct);
  return (
    <button type="button" {...attributes} aria-busy={isBusy} onClick={act}>
      {children}
    </button>
  );
}

/** What does something once at a time, and whether it is being done. */
export function useAction<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
): readonly [boolean, (...args: Args) => void] {
  const [isBusy, setBusy] = useState(false);
  const act = (...args: Args): void => {
    if (isBusy) return;
    setBusy(true);
    work(...args)
      .catch((error: unknown) => say(explain(error), 'failed'))
      .finally(() => setBusy(false));
  };
  return [isBusy, act];
}
