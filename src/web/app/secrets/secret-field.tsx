import { useId, useState } from 'preact/hooks';
import type { Problem } from '../api.js';
import { FormError } from '../ui/form.js';

/** Typed text, or the bytes of a file. */
export type SecretInput = Uint8Array<ArrayBuffer> | string;

/** The service's limit for sealed values. Sealing adds bytes, so larger files are rejected without reading them. */
const MAX_BYTES = 2 ** 20;

interface SecretFieldProps {
  readonly label: string;
  readonly value: SecretInput;
  readonly onValue: (value: SecretInput) => void;
}

/** A field for the value of a secret: typed, or read from a file such as a certificate. */
export function SecretField({ label, value, onValue }: SecretFieldProps) {
  const [problem, setProblem] = useState<Problem>();
  const [name, setName] = useState('');
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const isTooLarge = file.size > MAX_BYTES;
    setProblem(isTooLarge ? { message: `Values can be at most 1 MiB; “${file.name}” is larger.` } : undefined);
    if (isTooLarge) return;
    setName(file.name);
    onValue(new Uint8Array(await file.arrayBuffer()));
  };
  if (typeof value !== 'string') {
    return (
      <div class="field" role="group" aria-label={label}>
        <strong>{label}</strong>
        <p>
          {value.length} bytes of “{name}”.{' '}
          <button type="button" onClick={() => onValue('')}>
            Type the value instead
          </button>
        </p>
      </div>
    );
  }
  return (
    <>
      <ValueField label={label} value={value} onValue={onValue} />
      <div class="field">
        <label>
          Or read it from a file
          <input type="file" onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])} />
        </label>
        <FormError problem={problem} />
      </div>
    </>
  );
}

interface ValueFieldProps {
  readonly label: string;
  readonly value: string;
  readonly rows?: number;
  readonly onValue: (value: string) => void;
}

/** A text area for a secret: masked by default, without autocompletion and spell checking. */
export function ValueField({ label, value, rows = 3, onValue }: ValueFieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class={isShown ? '' : 'hidden-text'}
        required
        rows={rows}
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
