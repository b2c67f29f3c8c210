interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  /** Pairs of value and label. */
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
}

/** A select with its label above. */
export function Select<Value extends string>({ label, value, options, onValue }: SelectProps<Value>) {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options[currentTarget.selectedIndex];
          if (chosen) onValue(chosen[0]);
        }}
      >
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
