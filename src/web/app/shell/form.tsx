import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';

interface FormProps {
  readonly onSave: () => Promise<void>;
  /** What the button says. */
  readonly verb: string;
  readonly children: ComponentChildren;
}

/** Fields and the one button that sends them; what is missing is said by the browser. */
export function Form({ onSave, verb, children }: FormProps) {
  const [isBusy, save] = useAction(onSave);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {children}
      <button type="submit" class="main" aria-busy={isBusy}>
        {verb}
      </button>
    </form>
  );
}
