import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';
import { pendingConfirmation, cancelConfirmation, watchConfirmation } from './confirmation.js';

/**
 * The time after the first press in which a second one is ignored, so that a double click confirms nothing. Clicks also
 * carry a click count; key presses do not.
 */
const IGNORE_MS = 400;

interface ConfirmButtonProps {
  readonly onAct: () => Promise<void>;
  /** The text of the button while it waits for a confirmation, such as "Merge #418?". */
  readonly question: string;
  readonly label?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  /** The id of the element that explains why the button is disabled. */
  readonly reason?: string | undefined;
  /** Called for a press while the button is disabled. */
  readonly onRefuse?: () => void;
  readonly children: ComponentChildren;
}

/** A button that has to be pressed twice and offers to cancel in between. `watchArmed` lists other ways to cancel. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { onAct, question, label, disabled = false, reason, onRefuse, children } = props;
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const since = useRef(0);
  const [isBusy, act] = useAction(onAct);
  const isArmed = pendingConfirmation.value?.id === id;
  useLayoutEffect(() => (isArmed && box.current !== null ? watchConfirmation(box.current) : undefined), [isArmed]);
  useEffect(() => () => (pendingConfirmation.peek()?.id === id ? cancelConfirmation() : undefined), [id]);
  const click = ({ detail }: MouseEvent): void => {
    if (isBusy) return;
    if (disabled) return onRefuse?.();
    if (!isArmed) {
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
