import { useId, useState } from 'preact/hooks';

interface HiddenFieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly maxLength: number;
}

/** A text input for a secret, masked unless the user shows it. Browsers are asked not to store it. */
export function HiddenField({ label, hint, value, onValue, maxLength }: HiddenFieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  // Preact's types distinguish inputs by type, but both types have the same attributes.
  const kind = { type: isShown ? 'text' : 'password' } as { type: 'text' };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="row">
        <input
          id={id}
          {...kind}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          maxLength={maxLength}
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          Show <span class="aside">typed text</span>
        </button>
      </div>
      {hint !== undefined && (
        <p class="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
