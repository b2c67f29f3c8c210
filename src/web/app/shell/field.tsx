import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: 'number' | 'password' | 'search' | 'text' | 'url';
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly autoCapitalize?: 'none';
  readonly spellcheck?: boolean;
}

/** A line of text with its label, and with what helps to fill it in. */
export function Field({ label, hint, value, onValue, type = 'text', ...attributes }: FieldProps) {
  const id = useId();
  const hinted = hint === undefined ? {} : { 'aria-describedby': `${id}-hint` };
  // Types tell each type of input apart; none of those here has other attributes than the rest.
  const kind = { type } as { type: 'text' };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...attributes}
        {...hinted}
        {...kind}
        id={id}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
