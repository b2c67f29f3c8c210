import { useId } from 'preact/hooks';
import type { ArgumentDescription } from '../../../core/record-types.js';
import { SchemaText } from './schema-text.js';

interface ArgumentFieldProps {
  readonly argument: ArgumentDescription;
  /** The key of the value in the form, such as `traceSVG.color`. */
  readonly path: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onValue: (value: string) => void;
}

/** The field of one argument, with its schema description and its error. Empty means the default. */
export function ArgumentField({ argument, path, value, problem, onValue }: ArgumentFieldProps) {
  const id = useId();
  const { name, description, type, default: fallback } = argument;
  const attributes = {
    id,
    name: path,
    value,
    'aria-describedby': `${id}-hint${problem === undefined ? '' : ` ${id}-problem`}`,
    'aria-invalid': problem !== undefined,
  };
  const options = toOptions(argument);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      {options ? (
        <select {...attributes} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          <option value="">{fallback ?? 'default'}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...attributes}
          placeholder={toPlaceholder(fallback)}
          inputMode={type === 'String' ? 'text' : type === 'Int' ? 'numeric' : 'decimal'}
          autoComplete="off"
          spellcheck={false}
          maxLength={500}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
      <p class="problem" id={`${id}-problem`} role="alert" hidden={problem === undefined}>
        {problem}
      </p>
      <p class="quiet" id={`${id}-hint`}>
        <SchemaText text={toHint(argument, value) ?? description} />
      </p>
    </div>
  );
}

function toOptions({ type, values, default: fallback }: ArgumentDescription): readonly string[] | undefined {
  const names = type === 'Boolean' ? ['true', 'false'] : values?.map(({ name }) => name);
  return names?.filter((name) => name !== fallback);
}

/** Returns the description of the chosen enum value. */
const toHint = ({ values }: ArgumentDescription, value: string): string | undefined =>
  values?.find(({ name }) => name === value)?.description;

/** Returns the default without GraphQL quotes. */
const toPlaceholder = (fallback = ''): string =>
  fallback === '""' || fallback === '[]' ? '' : fallback.replaceAll('"', '');
