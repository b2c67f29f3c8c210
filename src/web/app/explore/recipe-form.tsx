import type { ArgumentDescription } from '../../../site/kind-descriptions.js';
import { Select } from '../shell/select.js';
import { ArgumentField } from './argument-field.js';
import type { Recipe } from './recipe-address.js';
import { SHAPES } from './recipe.js';
import type { Problems, Shape, Values } from './recipe.js';
import { SchemaText } from './schema-text.js';

interface RecipeFormProps {
  readonly recipe: Recipe;
  readonly problems: Problems;
  readonly onRecipe: (recipe: Recipe) => void;
}

/** What most recipes say, in this order; the others wait behind a summary. */
const FIRST = ['width', 'maxWidth', 'height', 'maxHeight', 'toFormat', 'quality', 'fit', 'cropFocus', 'traceSVG'];

const isFirst = ({ name }: Shape, argument: ArgumentDescription): boolean =>
  FIRST.includes(argument.name) && (name === 'traced' || argument.name !== 'traceSVG');

/** A field for every argument that the schema has for a shape. */
export function RecipeForm({ recipe, problems, onRecipe }: RecipeFormProps) {
  const { shape, values, results } = recipe;
  const args = shape.field.arguments;
  const first = args.filter((argument) => isFirst(shape, argument)).sort((a, b) => placeOf(a) - placeOf(b));
  const others = args.filter((argument) => !isFirst(shape, argument));
  const set = countSet(others, values);
  const edit = (name: string, value: string): void => onRecipe({ ...recipe, values: { ...values, [name]: value } });
  const choose = (name: string): void => {
    const next = SHAPES.find((one) => one.name === name) ?? shape;
    onRecipe({ shape: next, results: next.results, values: keep(next, values) });
  };
  const fields = (list: readonly ArgumentDescription[]) => (
    <Arguments args={list} values={values} problems={problems} onValue={edit} />
  );
  return (
    <form class="recipe" aria-label="Recipe" onSubmit={(event) => event.preventDefault()}>
      <Select label="Make" value={shape.name} options={SHAPES.map(toOption)} onValue={choose} />
      <p class="quiet">{shape.description}</p>
      {fields(first)}
      <details open={set > 0 ? true : undefined}>
        <summary>All other arguments{set > 0 && ` (${set} set)`}</summary>
        {fields(others)}
      </details>
      <Results shape={shape} chosen={results} onChosen={(chosen) => onRecipe({ ...recipe, results: chosen })} />
      <button type="button" onClick={() => onRecipe({ shape, results: shape.results, values: {} })}>
        Start again
      </button>
    </form>
  );
}

const toOption = ({ name }: Shape) => [name, name] as const;

const placeOf = ({ name }: ArgumentDescription): number => FIRST.indexOf(name);

const countSet = (args: readonly ArgumentDescription[], values: Values): number =>
  Object.keys(values).filter((path) => values[path] !== '' && args.some(({ name }) => path.split('.')[0] === name))
    .length;

/** What another shape has by the same name. */
const keep = ({ field }: Shape, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([path]) => field.arguments.some(({ name }) => path.split('.')[0] === name)),
  );

interface ArgumentsProps {
  readonly args: readonly ArgumentDescription[];
  readonly values: Values;
  readonly problems: Problems;
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
  readonly shape: Shape;
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
}

/** What the query asks of the images; at least one thing, as GraphQL wants. */
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
      <summary>What to ask for ({chosen.length})</summary>
      <fieldset>
        <legend>Results</legend>
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
