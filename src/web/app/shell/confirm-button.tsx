import { signal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';

/** Time to read what is about to happen, and to turn away from it. */
const ARMED_MS = 8_000;

/** The second half of a double click is no answer. */
const DEAF_MS = 400;

/** Of all buttons of a page, at most one is armed. */
const armed = signal<string | undefined>(undefined);

interface ConfirmButtonProps {
  readonly onAct: () => Promise<void>;
  /** What the armed button says, such as "Really merge?" */
  readonly question: string;
  readonly label?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

/** Asks once more in its own place. Escape, another button, or eight seconds take the question back. */
export function ConfirmButton({ onAct, question, label, disabled = false, children, ...rest }: ConfirmButtonProps) {
  const id = useId();
  const since = useRef(0);
  const [isBusy, act] = useAction(onAct);
  const isArmed = armed.value === id;
  useEffect(() => {
    if (!isArmed) return;
    const timer = setTimeout(disarm, ARMED_MS);
    const onKey = ({ key }: KeyboardEvent): void => (key === 'Escape' ? disarm() : undefined);
    document.addEventListener('keydown', onKey);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('keydown', onKey);
    };
  }, [isArmed]);
  const click = (): void => {
    if (isBusy || disabled) return;
    if (!isArmed) {
      // Not in an effect, which may come after the second half of a double click.
      since.current = performance.now();
      armed.value = id;
    } else if (performance.now() - since.current >= DEAF_MS) {
      disarm();
      act();
    }
  };
  return (
    <button
      type="button"
      class={`${rest.class ?? ''} ${isArmed ? 'armed' : ''}`}
      aria-label={isArmed ? undefined : label}
      aria-busy={isBusy}
      aria-disabled={disabled}
      onClick={click}
      onBlur={() => isArmed && disarm()}
    >
      {isArmed ? question : children}
    </button>
  );
}

function disarm(): void {
  armed.value = undefined;
}
