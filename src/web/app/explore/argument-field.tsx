import { useId } from 'preact/hooks';
import type { ArgumentDescription } from '../../../site/kind-descriptions.js';
import { SchemaText } from './schema-text.js';

interface ArgumentFieldProps {
  readonly argument: ArgumentDescription;
  /** How its value is called among those of the form. */
  readonly path: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onValue: (value: string) => void;
}

/** One argument with what the schema says of it; empty takes the default. What is wrong with it is told here. */
export function ArgumentField({ argument, path, value, problem, onValue }: ArgumentFieldProps) {
  const id = useId();
  const { name, description, type, default: usual } = argument;
  const attributes = {
    id,
    name: path,
    value,
    'aria-describedby': `${id}-hint${problem === undefined ? '' : ` ${id}-problem`}`,
    'aria-invalid': problem !== undefined,
  };
  const options = optionsOf(argument);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      {options ? (
        <select {...attributes} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
          <option value="">{usual ?? 'as usual'}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...attributes}
          placeholder={toPlaceholder(usual)}
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

function optionsOf({ type, values, default: usual }: ArgumentDescription): readonly string[] | undefined {
  const names = type === 'Boolean' ? ['true', 'false'] : values?.map(({ name }) => name);
  return names?.filter((name) => name !== usual);
}

/** Of a chosen value, what it does. */
const toHint = ({ values }: ArgumentDescription, value: string): string | undefined =>
  values?.find(({ name }) => name === value)?.description;

/** The default, as a person would write it. */
const toPlaceholder = (usual = ''): string => (usual === '""' || usual === '[]' ? '' : usual.replaceAll('"', ''));
