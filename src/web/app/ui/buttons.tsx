import type { ButtonHTMLAttributes, ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { cancelConfirmation, pendingConfirmation, watchConfirmation } from './confirmation.js';
import { removeToast, showError } from './toasts.js';

interface ActionButtonProps extends Omit<ButtonHTMLAttributes, 'onClick'> {
  readonly onAct: () => Promise<void>;
  readonly children: ComponentChildren;
}

/**
 * A button for asynchronous work. It ignores presses while the work runs, keeps the focus, and shows errors as toasts. It
 * also ignores the second click of a double click, whose first one may have acted on an entry that was in its place.
 */
export function ActionButton({ onAct, children, ...attributes }: ActionButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isBusy, act] = useAction(onAct);
  useFocusHandover(button);
  return (
    <button
      ref={button}
      type="button"
      {...attributes}
      aria-busy={isBusy}
      onClick={({ detail }) => detail <= 1 && act()}
    >
      {children}
    </button>
  );
}

/**
 * Returns whether `work` is running, and a function that starts it unless it is. An error is shown as a toast, until the next
 * attempt.
 */
export function useAction<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
): readonly [boolean, (...args: Args) => void] {
  const [isBusy, setBusy] = useState(false);
  // Listeners that an effect adds have the state of an earlier frame.
  const isRunning = useRef(false);
  const failure = useRef(0);
  const act = (...args: Args): void => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    removeToast(failure.current);
    work(...args)
      .catch((error: unknown) => void (failure.current = showError(error)))
      .finally(() => {
        isRunning.current = false;
        setBusy(false);
      });
  };
  return [isBusy, act];
}

/**
 * Moves the focus of an element that disappears, such as the button of a deleted entry, to what opens its menu, or to the
 * heading of its section or of the page. The browser would move it to the top of the page, and the menu would close.
 */
export function useFocusHandover(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { current } = element;
    const [menu, section] = [current?.closest('details'), current?.closest('section')];
    return () => {
      if (current?.contains(document.activeElement) !== true) return;
      const opener = menu?.querySelector<HTMLElement>('summary');
      const heading = section?.querySelector<HTMLElement>('h2[tabindex]');
      // Lists, dialogs and menus that move the focus themselves do so first.
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const target = [opener, heading].find((candidate) => candidate?.isConnected) ?? document.querySelector('h1');
        target?.focus({ preventScroll: true });
      });
    };
  }, [element]);
}

/**
 * Calls `act` after a press beside all elements has taken the focus away. Some browsers report the removal of a focused element
 * as well, before it is removed.
 */
export function onFocusLost({ target, relatedTarget }: FocusEvent, act: () => void): void {
  if (relatedTarget !== null) return;
  queueMicrotask(() => {
    if (target instanceof Element && target.isConnected && document.activeElement === document.body) act();
  });
}

/**
 * The time after the first press in which a second one is ignored, so that a double click confirms nothing. Clicks also
 * carry a click count; key presses do not.
 */
const IGNORE_MS = 400;

interface ConfirmButtonProps {
  readonly onAct: () => Promise<void>;
  /**
   * The text of the button while it waits for a confirmation, such as "Merge #418?". Without it, the first press acts:
   * for actions that can be undone.
   */
  readonly question: string | undefined;
  readonly label?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  /** The id of the element that explains why the button is disabled. */
  readonly reason?: string;
  /** Called for a press while the button is disabled. */
  readonly onRefuse?: () => void;
  readonly children: ComponentChildren;
}

/**
 * A button that has to be pressed twice and offers to cancel in between. {@link watchConfirmation} lists other ways to
 * cancel.
 */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { onAct, question, label, disabled = false, reason, onRefuse, children } = props;
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const since = useRef(0);
  const [isBusy, act] = useAction(onAct);
  useFocusHandover(box);
  const isArmed = pendingConfirmation.value?.id === id;
  useLayoutEffect(() => (isArmed && box.current !== null ? watchConfirmation(box.current) : undefined), [isArmed]);
  useEffect(() => () => (pendingConfirmation.peek()?.id === id ? cancelConfirmation() : undefined), [id]);
  const click = ({ detail }: MouseEvent): void => {
    if (isBusy) return;
    if (disabled) return onRefuse?.();
    if (question === undefined) {
      if (detail <= 1) act();
    } else if (!isArmed) {
      // An effect could run only after the second press of a double click.
      since.current = performance.now();
      pendingConfirmation.value = { id, question };
    } else if (detail <= 1 && performance.now() - since.current >= IGNORE_MS) {
      cancelConfirmation();
      act();
    }
  };
  const cancel = (): void => {
    button.current?.focus();
    cancelConfirmation();
  };
  return (
    <span ref={box} class="confirm">
      <button
        ref={button}
        type="button"
        class={`${props.class ?? ''} ${isArmed ? 'armed' : ''}`}
        aria-label={isArmed ? undefined : label}
        aria-busy={isBusy}
        aria-disabled={disabled}
        aria-describedby={reason}
        onClick={click}
      >
        {isArmed ? question : children}
      </button>
      {isArmed && (
        <button type="button" class="cancel" onClick={cancel}>
          Cancel
        </button>
      )}
    </span>
  );
}

/**
 * Copies a text. Browsers reject this without a permission, or a press in the last seconds, with the same error as a cancelled
 * passkey, and have no clipboard at addresses without https.
 */
export async function writeClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new Error(
      'The browser did not allow access to the clipboard. Press the button again, or allow it for this site.',
    );
  }
}

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
    await writeClipboard(value);
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
