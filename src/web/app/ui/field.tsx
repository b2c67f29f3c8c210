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

/** A text input with a label and an optional hint. */
export function Field({ label, hint, value, onValue, type = 'text', ...attributes }: FieldProps) {
  const id = useId();
  const hinted = hint === undefined ? {} : { 'aria-describedby': `${id}-hint` };
  // Preact's types distinguish inputs by type, but all types used here have the same attributes.
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
