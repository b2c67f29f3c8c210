import { useCallback, useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { ask } from './ask.js';
import { ExploreFrame } from './explore-frame.js';
import { HOME, linkTo } from './place.js';
import { formatRecipe, readRecipe } from './recipe-address.js';
import type { Recipe } from './recipe-address.js';
import { RecipeForm } from './recipe-form.js';
import { writeArguments } from './recipe.js';
import { Preview } from './preview.js';
import { QueryText } from './query-text.js';
import { useMade } from './use-made.js';
import './explore.css';
import './recipe.css';

interface Original {
  readonly base: string;
  readonly relativePath: string;
  readonly relativeDirectory: string;
  readonly sourceInstanceName: string;
  readonly childImageProc: { readonly original: { readonly width: number; readonly height: number } | null } | null;
}

const ORIGINAL = `query original($id: String!) {
  file(id: {eq: $id}) {
    base relativePath relativeDirectory sourceInstanceName
    childImageProc { original { width height } }
  }
}`;

/** The page that transforms one image: a form, a live preview and the query to copy. */
export function RecipePage() {
  const { query } = useLocation();
  const id = query.file ?? '';
  const load = useCallback(async () => (await ask<{ readonly file: Original | null }>(ORIGINAL, { id })).file, [id]);
  const original = useResource(load);
  return (
    <ExploreFrame title="Transform image">
      <Loaded from={original}>
        {(file) =>
          file?.childImageProc ? (
            <Workbench key={id} id={id} file={file} />
          ) : (
            <p>
              This image doesn’t exist or was deleted. <a href="/explore">Browse files</a>
            </p>
          )
        }
      </Loaded>
    </ExploreFrame>
  );
}

function Workbench({ id, file }: { readonly id: string; readonly file: Original }) {
  const [recipe, setRecipe] = useState(() => readRecipe(new URLSearchParams(location.search)));
  useEffect(() => {
    // Replaces the history entry, so that Back leaves the page instead of undoing one edit.
    if (recipe) history.replaceState(history.state, '', formatRecipe(id, recipe));
  }, [id, recipe]);
  if (recipe === undefined) return <p>Image transforms are not available on this server.</p>;
  return (
    <>
      <p>
        Source: <a href={linkTo({ ...HOME, folder: file.relativeDirectory, file: id })}>{file.relativePath}</a>
        <span class="quiet"> · {toSize(file)}</span>
      </p>
      <Editor path={file.relativePath} recipe={recipe} onRecipe={setRecipe} />
    </>
  );
}

const toSize = ({ childImageProc }: Original): string => {
  const size = childImageProc?.original;
  return size ? `${size.width} × ${size.height} pixels` : 'unreadable image';
};

interface EditorProps {
  readonly path: string;
  readonly recipe: Recipe;
  readonly onRecipe: (recipe: Recipe) => void;
}

function Editor({ path, recipe, onRecipe }: EditorProps) {
  const { shape, values, results } = recipe;
  const { text, problems } = writeArguments(shape.field.arguments, values);
  const isWritten = Object.keys(problems).length === 0;
  const made = useMade({ path, shape, args: text, results, isWritten });
  const all = made.field === undefined ? problems : { ...problems, [made.field]: made.problem ?? '' };
  return (
    <div class="workbench">
      <RecipeForm recipe={recipe} problems={all} onRecipe={onRecipe} />
      <div class="outcome">
        <Preview made={made} shape={shape} isWritten={isWritten} />
        <QueryText path={path} recipe={recipe} args={text} />
      </div>
    </div>
  );
}
