import type { ArgumentDescription } from '@trellis/core/record-types';
import { useId } from 'preact/hooks';
import { Select } from '../../ui/form.js';
import { SchemaText } from '../site-layout.js';
import type { ArgumentErrors, ArgumentTexts, TransformField, TransformForm } from './transform.js';

interface RecipeFormProps {
  readonly transforms: readonly TransformField[];
  readonly recipe: TransformForm;
  readonly problems: ArgumentErrors;
  readonly onRecipe: (recipe: TransformForm) => void;
}

/** The most common arguments, in this order. A fold contains the others. */
const COMMON = ['width', 'maxWidth', 'height', 'maxHeight', 'toFormat', 'quality', 'fit', 'cropFocus', 'traceSVG'];

const isCommon = ({ name }: TransformField, argument: ArgumentDescription): boolean =>
  COMMON.includes(argument.name) && (name === 'traced' || argument.name !== 'traceSVG');

/** The form with a field for every argument of the selected image transform. */
export function TransformFields({ transforms, recipe, problems, onRecipe }: RecipeFormProps) {
  const { shape, values, results } = recipe;
  const args = shape.field.arguments;
  const common = args.filter((argument) => isCommon(shape, argument)).sort((a, b) => rank(a) - rank(b));
  const others = args.filter((argument) => !isCommon(shape, argument));
  const setCount = countSet(others, values);
  const edit = (name: string, value: string): void => onRecipe({ ...recipe, values: { ...values, [name]: value } });
  const choose = (name: string): void => {
    const next = transforms.find((one) => one.name === name) ?? shape;
    onRecipe({ shape: next, results: next.results, values: pickKnown(next, values) });
  };
  const fields = (list: readonly ArgumentDescription[]) => (
    <Arguments args={list} values={values} problems={problems} onValue={edit} />
  );
  return (
    <form class="recipe" aria-label="Image transform" onSubmit={(event) => event.preventDefault()}>
      <Select label="Transform" value={shape.name} options={transforms.map(toOption)} onValue={choose} />
      <p class="quiet">{shape.description}</p>
      {fields(common)}
      <details open={setCount > 0 ? true : undefined}>
        <summary>More arguments{setCount > 0 && ` (${setCount} set)`}</summary>
        {fields(others)}
      </details>
      <Results shape={shape} chosen={results} onChosen={(chosen) => onRecipe({ ...recipe, results: chosen })} />
      <button type="button" onClick={() => onRecipe({ shape, results: shape.results, values: {} })}>
        Reset
      </button>
    </form>
  );
}

const toOption = ({ name }: TransformField) => [name, name] as const;

const rank = ({ name }: ArgumentDescription): number => COMMON.indexOf(name);

const countSet = (args: readonly ArgumentDescription[], values: ArgumentTexts): number =>
  Object.keys(values).filter((path) => values[path] !== '' && args.some(({ name }) => path.split('.')[0] === name))
    .length;

/** Keeps the values of arguments that the selected transform has too. */
const pickKnown = ({ field }: TransformField, values: ArgumentTexts): ArgumentTexts =>
  Object.fromEntries(
    Object.entries(values).filter(([path]) => field.arguments.some(({ name }) => path.split('.')[0] === name)),
  );

interface ArgumentsProps {
  readonly args: readonly ArgumentDescription[];
  readonly values: ArgumentTexts;
  readonly problems: ArgumentErrors;
  readonly onValue: (path: string, value: string) => void;
  readonly above?: string;
}

function Arguments({ args, values, problems, onValue, above = '' }: ArgumentsProps) {
  return (
    <div class="arguments">
      {args.map((argument) => {
        const path = above + argument.name;
        return argument.arguments ? (
          <fieldset key={path}>
            <legend>{argument.name}</legend>
            <p class="quiet">
              <SchemaText text={argument.description} />
            </p>
            <Arguments {...{ values, problems, onValue }} args={argument.arguments} above={`${path}.`} />
          </fieldset>
        ) : (
          <ArgumentField
            key={path}
            argument={argument}
            path={path}
            value={values[path] ?? ''}
            problem={problems[path]}
            onValue={(value) => onValue(path, value)}
          />
        );
      })}
    </div>
  );
}

interface ResultsProps {
  readonly shape: TransformField;
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
}

/** Selects the fields of the query. At least one stays selected, as GraphQL requires a field. */
function Results({ shape, chosen, onChosen }: ResultsProps) {
  const all = shape.field.results;
  const toggle = (name: string): void => {
    const next = all
      .map((one) => one.name)
      .filter((one) => (one === name ? !chosen.includes(one) : chosen.includes(one)));
    onChosen(next.length === 0 ? chosen : next);
  };
  return (
    <details>
      <summary>Fields ({chosen.length})</summary>
      <fieldset>
        <legend>Fields in the query</legend>
        {all.map(({ name, description }) => (
          <label key={name} class="choice">
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
            <span>
              <code>{name}</code>{' '}
              <small class="quiet">
                <SchemaText text={description} />
              </small>
            </span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

interface ArgumentFieldProps {
  readonly argument: ArgumentDescription;
  /** The key of the value in the form, such as `traceSVG.color`. */
  readonly path: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onValue: (value: string) => void;
}

/** The field of one argument, with its schema description and its error. Empty means the default. */
function ArgumentField({ argument, path, value, problem, onValue }: ArgumentFieldProps) {
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
