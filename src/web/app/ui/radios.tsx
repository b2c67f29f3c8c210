import { useId } from 'preact/hooks';

interface RadiosProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  /** Pairs of value and label. */
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
}

/** A group of radio buttons. */
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
