import { useState } from 'preact/hooks';
import { Field } from '../../ui/form.js';
import { CHARACTER_SETS, type CharacterSet, generateValue, toAlphabet, toEntropy } from './generate.js';

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
      <Field
        label="Length"
        type="number"
        min={MIN_LENGTH}
        max={MAX_LENGTH}
        autoComplete="off"
        value={length}
        onValue={setLength}
      />
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
