import type { ComponentChildren } from 'preact';
import { useAction } from './action-button.js';

interface FormProps {
  readonly onSave: () => Promise<void>;
  /** The label of the submit button. */
  readonly verb: string;
  /** Further buttons beside it. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields and a submit button. The browser reports missing or invalid values. */
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
