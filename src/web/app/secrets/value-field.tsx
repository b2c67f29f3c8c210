import { useId, useState } from 'preact/hooks';

interface ValueFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** A text area for a secret: masked by default, without autocompletion and spell checking. */
export function ValueField({ label, value, onValue }: ValueFieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class={isShown ? '' : 'hidden-text'}
        required
        rows={3}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <label class="choice">
        <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
        Show input
      </label>
    </div>
  );
}
