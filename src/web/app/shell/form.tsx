import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';

interface FormProps {
  readonly onSave: () => Promise<void>;
  /** What the button says. */
  readonly verb: string;
  /** Other buttons, beside that one. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields and the one button that sends them; what is missing is said by the browser. */
export function Form({ onSave, verb, beside, children }: FormProps) {
  const [isBusy, save] = useAction(onSave);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {children}
      <div class="acts">
        <button type="submit" class="main" aria-busy={isBusy}>
          {verb}
        </button>
        {beside}
      </div>
    </form>
  );
}
