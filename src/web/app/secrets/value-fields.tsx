import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { Problem } from '../api.js';
import { Field, FormError } from '../ui/form.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { type CharacterSet, CHARACTER_SETS, generateValue, toAlphabet, toEntropy } from './generate-value.js';
import { findOwnPublicKey, listAllConsumers } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';

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
  const isTyped = value !== '';
  useEffect(() => {
    // After an upgrade of the server they could not be loaded, and a reload would lose the value.
    if (isTyped) loadStoredValues().catch(() => undefined);
  }, [isTyped]);
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

const MIN_LENGTH = 8;
const MAX_LENGTH = 256;

const ALL_SETS = Object.keys(CHARACTER_SETS) as CharacterSet[];

/** With less entropy, a value can be found by trying all values that the generator can make. */
const WEAK_BITS = 80;

interface GeneratorProps {
  readonly onValue: (value: string) => void;
}

/** Generates a random value in this browser, and shows its entropy. */
export function ValueGenerator({ onValue }: GeneratorProps) {
  const [length, setLength] = useState('32');
  const [sets, setSets] = useState<readonly CharacterSet[]>(['lower', 'upper', 'digits']);
  const [isReadable, setReadable] = useState(false);
  const [done, setDone] = useState('');
  const alphabet = toAlphabet(sets, isReadable);
  const count = Number(length);
  const problem = findProblem(count, sets);
  const bits = Math.floor(toEntropy(count, alphabet));
  const toggle = (set: CharacterSet): void =>
    setSets(ALL_SETS.filter((one) => (one === set ? !sets.includes(one) : sets.includes(one))));
  const generate = (): void => {
    if (problem !== undefined) return;
    onValue(generateValue(count, alphabet));
    setDone(`Generated a value of ${count} characters.`);
  };
  return (
    <details class="fold">
      <summary>Generate a value</summary>
      <Field label="Length" type="number" min={MIN_LENGTH} max={MAX_LENGTH} value={length} onValue={setLength} />
      <div class="radios" role="group" aria-label="Characters">
        {ALL_SETS.map((set) => (
          <label key={set} class="choice">
            <input type="checkbox" checked={sets.includes(set)} onChange={() => toggle(set)} />
            {CHARACTER_SETS[set][0]}
          </label>
        ))}
        <label class="choice">
          <input
            type="checkbox"
            checked={isReadable}
            onChange={({ currentTarget }) => setReadable(currentTarget.checked)}
          />
          Easy to read (without 0 O, 1 l I)
        </label>
      </div>
      <p class={problem === undefined && bits >= WEAK_BITS ? 'quiet' : 'problem'}>
        {problem ?? `${bits} bits of entropy: ${count} of ${alphabet.length} characters`}
        {problem === undefined && bits < WEAK_BITS && `. Choose at least ${WEAK_BITS} bits.`}
      </p>
      <button type="button" aria-disabled={problem !== undefined} onClick={generate}>
        Generate
      </button>{' '}
      <span class="quiet" role="status">
        {done}
      </span>
    </details>
  );
}

function findProblem(length: number, sets: readonly CharacterSet[]): string | undefined {
  if (sets.length === 0) return 'Choose at least one set of characters.';
  const isValid = Number.isInteger(length) && length >= MIN_LENGTH && length <= MAX_LENGTH;
  return isValid ? undefined : `Expected a length from ${MIN_LENGTH} to ${MAX_LENGTH}.`;
}

/** Loads the possible readers together, so that one error covers them. */
async function loadReaders() {
  const [consumers, ownKey] = await Promise.all([listAllConsumers(), findOwnPublicKey()]);
  return { consumers, ownKey };
}

interface ReaderPickerProps {
  /** The names of the selected consumers. */
  readonly usedBy: readonly string[];
  readonly onUsedBy: (names: readonly string[]) => void;
  /** Whether the owner is a reader too. */
  readonly isReadable: boolean;
  readonly onReadable: (isReadable: boolean) => void;
  /** Whether saving the form creates a missing key of the owner. */
  readonly canCreate?: boolean;
  /** Further readers, between the consumers and the owner. */
  readonly children?: (hasConsumers: boolean) => ComponentChildren;
}

/** Selects the readers of a value: consumers and the owner. Those without a public key can't be selected. */
export function ReaderPicker(props: ReaderPickerProps) {
  const { usedBy, onUsedBy, isReadable, onReadable, canCreate = false, children } = props;
  const readers = useResource(loadReaders);
  return (
    <fieldset>
      <legend>Readers</legend>
      <AsyncContent from={readers}>
        {({ consumers, ownKey }) => (
          <>
            {consumers.length === 0 && (
              <p>
                No consumers yet. <a href="/vault/consumers">Add one with its public key</a>, or encrypt the value to
                your own key.
              </p>
            )}
            {consumers.map(({ name, public_key }) => (
              <label key={name} class="choice">
                <input
                  type="checkbox"
                  disabled={public_key === undefined && !usedBy.includes(name)}
                  checked={usedBy.includes(name)}
                  onChange={({ currentTarget }) =>
                    onUsedBy(currentTarget.checked ? [...usedBy, name] : usedBy.filter((one) => one !== name))
                  }
                />
                {name}
                {public_key === undefined && <span class="quiet">no public key yet</span>}
              </label>
            ))}
            {children?.(consumers.length > 0)}
            <label class="choice">
              <input
                type="checkbox"
                disabled={ownKey === undefined && !canCreate}
                checked={isReadable && (ownKey !== undefined || canCreate)}
                onChange={({ currentTarget }) => onReadable(currentTarget.checked)}
              />
              Encrypt it to my own key too, so that I can read it
            </label>
            {ownKey === undefined && <MissingKey canCreate={canCreate} />}
          </>
        )}
      </AsyncContent>
    </fieldset>
  );
}

const MissingKey = ({ canCreate }: { readonly canCreate: boolean }) => (
  <p class="quiet">
    You don’t have a key yet.{' '}
    {canCreate ? 'It is created when you save.' : <a href="/vault/identity">Create your key</a>}
  </p>
);
