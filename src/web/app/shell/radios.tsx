import { useId } from 'preact/hooks';

interface RadiosProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  /** Each value with what it is called. */
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
}

/** A choice of one among few, all of which are seen. */
export function Radios<Value extends string>({ legend, value, options, onValue }: RadiosProps<Value>) {
  const name = useId();
  return (
    <fieldset class="radios">
      <legend>{legend}</legend>
      {options.map(([option, title]) => (
        <label key={option} class="choice">
          <input type="radio" name={name} checked={value === option} onChange={() => onValue(option)} />
          {title}
        </label>
      ))}
    </fieldset>
  );
}
