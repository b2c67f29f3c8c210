import { useCallback, useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../shell/copy-button.js';
import { Field } from '../shell/field.js';
import { Loaded } from '../shell/loaded.js';
import { Select } from '../shell/select.js';
import { useResource } from '../shell/use-resource.js';
import { ask } from './ask.js';
import type { FileDetails } from './folder.js';
import { formatQuery, NO_RECIPE } from './recipe.js';
import type { Recipe } from './recipe.js';

interface RecipeFormProps {
  readonly path: string;
  readonly image: NonNullable<FileDetails['image']>;
}

/** So that an image is not made for each letter. */
const ASK_AFTER_MS = 400;

const offer = (...values: readonly string[]) =>
  [['', 'as usual'], ...values.map((one) => [one, one] as const)] as const;

const FITS = offer('COVER', 'CONTAIN', 'FILL', 'INSIDE', 'OUTSIDE');
const FORMATS = offer('JPG', 'PNG', 'WEBP', 'AVIF');
const FOCUSES = offer(
  ...['ATTENTION', 'ENTROPY', 'CENTER', 'NORTH', 'NORTHEAST', 'EAST', 'SOUTHEAST'],
  ...['SOUTH', 'SOUTHWEST', 'WEST', 'NORTHWEST'],
);
const FIELDS: readonly (readonly [Recipe['field'], string])[] = [
  ['fixed', 'fixed: one size, for dense screens too'],
  ['fluid', 'fluid: grows with the page'],
  ['resize', 'resize: one image'],
];

/** Makes a recipe, shows what comes of it, and the query to copy. */
export function RecipeForm({ path, image }: RecipeFormProps) {
  const [recipe, setRecipe] = useState<Recipe>(NO_RECIPE);
  const edit = (change: Partial<Recipe>): void => setRecipe({ ...recipe, ...change });
  const query = formatQuery(path, recipe);
  return (
    <section aria-label="Derived image">
      <p class="quiet">
        {image.width} × {image.height} pixels
      </p>
      <Preview query={query} field={recipe.field} />
      <form class="recipe" onSubmit={(event) => event.preventDefault()}>
        <Select label="Kind" value={recipe.field} options={FIELDS} onValue={(field) => edit({ field })} />
        <Number label="Width" value={recipe.width} onValue={(width) => edit({ width })} />
        <Number label="Height" value={recipe.height} onValue={(height) => edit({ height })} />
        <Select label="Fit" value={recipe.fit} options={FITS} onValue={(fit) => edit({ fit })} />
        <Select label="Focus" value={recipe.cropFocus} options={FOCUSES} onValue={(cropFocus) => edit({ cropFocus })} />
        <Select label="Format" value={recipe.toFormat} options={FORMATS} onValue={(toFormat) => edit({ toFormat })} />
        <Number label="Quality" value={recipe.quality} onValue={(quality) => edit({ quality })} />
        <Number label="Turned by" value={recipe.rotate} onValue={(rotate) => edit({ rotate })} />
        <Number label="Trim" value={recipe.trim} onValue={(trim) => edit({ trim })} />
        <Field label="Background" value={recipe.background} onValue={(background) => edit({ background })} />
        <Field
          label="Highlight"
          placeholder="#f5d0a0"
          value={recipe.highlight}
          onValue={(highlight) => edit({ highlight })}
        />
        <Field label="Shadow" placeholder="#17614a" value={recipe.shadow} onValue={(shadow) => edit({ shadow })} />
        <Choice label="Gray" isChosen={recipe.grayscale} onChoice={(grayscale) => edit({ grayscale })} />
        <Choice label="Traced outlines" isChosen={recipe.traced} onChoice={(traced) => edit({ traced })} />
      </form>
      <h3>The query</h3>
      <pre tabIndex={0} role="region" aria-label="The query">
        <code>{query}</code>
      </pre>
      <CopyButton value={query} what="the query" />{' '}
      <a href={`/graphql#${new URLSearchParams({ query }).toString()}`}>Open it in the GraphQL explorer</a>
    </section>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const Number = (props: TextProps) => <Field type="number" {...props} />;

interface ChoiceProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoice: (isChosen: boolean) => void;
}

function Choice({ label, isChosen, onChoice }: ChoiceProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={isChosen} onChange={({ currentTarget }) => onChoice(currentTarget.checked)} />
      {label}
    </label>
  );
}

interface Made {
  readonly src: string;
  readonly srcSet?: string;
  readonly width?: number;
  readonly height?: number;
  readonly tracedSVG?: string;
}

interface MadeAnswer {
  readonly file: { readonly childImageProc: Readonly<Record<string, Made | null>> | null } | null;
}

function Preview({ query, field }: { readonly query: string; readonly field: Recipe['field'] }) {
  const settled = useSettled(query);
  const load = useCallback(
    async () => (await ask<MadeAnswer>(settled)).file?.childImageProc?.[field] ?? null,
    [settled, field],
  );
  const made = useResource(load);
  return (
    <div class="preview">
      <Loaded from={made}>
        {(image) =>
          image === null ? (
            <p>No image comes of this.</p>
          ) : (
            <>
              <img
                src={image.src}
                srcset={image.srcSet}
                width={image.width}
                height={image.height}
                alt="What comes of it"
              />
              {image.tracedSVG && <img src={image.tracedSVG} alt="Its outlines" />}
            </>
          )
        }
      </Loaded>
      {made.value !== undefined && made.problem !== undefined && (
        <p class="problem" role="alert">
          {made.problem}
        </p>
      )}
    </div>
  );
}

/** A text once it has stood still for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
