import { useState } from 'preact/hooks';
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { toUserMessage } from '../api-errors.js';
import { showToast } from './toasts.js';

interface ActionButtonProps extends Omit<ButtonHTMLAttributes, 'onClick'> {
  readonly onAct: () => Promise<void>;
  readonly children: ComponentChildren;
}

/**
 * A button for asynchronous work. It ignores presses while the work runs, keeps the focus, and shows errors as toasts.
 */
export function ActionButton({ onAct, children, ...attributes }: ActionButtonProps) {
  const [isBusy, act] = useAction(onAct);
  return (
    <button type="button" {...attributes} aria-busy={isBusy} onClick={act}>
      {children}
    </button>
  );
}

/** Returns whether `work` is running, and a function that starts it unless it is. Errors are shown as toasts. */
export function useAction<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
): readonly [boolean, (...args: Args) => void] {
  const [isBusy, setBusy] = useState(false);
  const act = (...args: Args): void => {
    if (isBusy) return;
    setBusy(true);
    work(...args)
      .catch((error: unknown) => showToast(toUserMessage(error), 'failed'))
      .finally(() => setBusy(false));
  };
  return [isBusy, act];
}
