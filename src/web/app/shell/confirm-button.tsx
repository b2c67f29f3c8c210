import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';
import { armed, disarm, watchArmed } from './armed.js';

/** The second half of a double click is no answer. Systems count clicks; of keys, which they don't count, it is what comes sooner. */
const DEAF_MS = 400;

interface ConfirmButtonProps {
  readonly onAct: () => Promise<void>;
  /** What the armed button says, such as "Really merge?" */
  readonly question: string;
  readonly label?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  /** The id of what says why it is disabled. */
  readonly reason?: string | undefined;
  /** What a press does while it is disabled, such as saying why. */
  readonly onRefuse?: () => void;
  readonly children: ComponentChildren;
}

/** Asks once more in its own place, with a way back; see `watchArmed` for what else takes the question back. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { onAct, question, label, disabled = false, reason, onRefuse, children } = props;
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const since = useRef(0);
  const [isBusy, act] = useAction(onAct);
  const isArmed = armed.value?.id === id;
  useLayoutEffect(() => (isArmed && box.current !== null ? watchArmed(box.current) : undefined), [isArmed]);
  useEffect(() => () => (armed.peek()?.id === id ? disarm() : undefined), [id]);
  const click = ({ detail }: MouseEvent): void => {
    if (isBusy) return;
    if (disabled) return onRefuse?.();
    if (!isArmed) {
      // Not in an effect, which may come after the second half of a double click.
      since.current = performance.now();
      armed.value = { id, question };
    } else if (detail <= 1 && performance.now() - since.current >= DEAF_MS) {
      disarm();
      act();
    }
  };
  const cancel = (): void => {
    button.current?.focus();
    disarm();
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
