import '../site.css';
import './transform.css';
import type { KindDescription } from '@trellis/core/record-types';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { graphql, type OriginalQuery } from '../../../../generated/queries/queries.js';
import { type Problem, toProblem } from '../../api.js';
import { CopyButton } from '../../ui/buttons.js';
import { ProblemText } from '../../ui/form.js';
import { AsyncContent, EmptyState, useResource } from '../../ui/resource.js';
import { loadRecordTypes, queryLater, querySite } from '../query-site.js';
import { SiteLayout } from '../site-layout.js';
import { linkToLocation, ROOT_LOCATION } from '../site-location.js';
import { useDerivedImage } from './derived-image.js';
import { FormatMatrix } from './format-matrix.js';
import { formatPicture, type PictureImage, PICTURE_FORMATS } from './format-picture.js';
import { TransformFields } from './transform-fields.js';
import { TransformPreview } from './transform-preview.js';
import {
  formatArguments,
  formatQuery,
  listTransformFields,
  parseTransformUrl,
  toTransformUrl,
  type TransformField,
  type TransformForm,
} from './transform.js';

type Original = NonNullable<OriginalQuery['file']>;

const ORIGINAL = graphql(`
  query original($id: String!) {
    file(id: { eq: $id }) {
      base
      size
      relativePath
      relativeDirectory
      sourceInstanceName
      childImageProc {
        original {
          width
          height
          src
        }
      }
    }
  }
`);

/** The page that transforms one image: a form, a live preview and the query to copy. */
export function TransformPage() {
  const { query } = useLocation();
  const id = query.file ?? '';
  const load = useCallback(() => Promise.all([querySite(ORIGINAL, { id }), loadRecordTypes()]), [id]);
  const original = useResource(load);
  return (
    <SiteLayout title="Transform image">
      <AsyncContent from={original}>
        {([{ file }, types]) =>
          file?.childImageProc ? (
            <Workbench key={id} id={id} file={file} types={types} />
          ) : (
            <EmptyState
              icon="folder"
              text={id === '' ? 'Choose an image of the site first.' : 'This image doesn’t exist or was deleted.'}
              next={
                <a class="button" href="/site">
                  Browse files
                </a>
              }
            />
          )
        }
      </AsyncContent>
    </SiteLayout>
  );
}

interface WorkbenchProps {
  readonly id: string;
  readonly file: Original;
  readonly types: readonly KindDescription[];
}

function Workbench({ id, file, types }: WorkbenchProps) {
  const transforms = useMemo(() => listTransformFields(types), [types]);
  const [recipe, setRecipe] = useState(() => parseTransformUrl(new URLSearchParams(location.search), transforms));
  useEffect(() => {
    // Replaces the history entry, so that Back leaves the page instead of undoing one edit.
    if (recipe) history.replaceState(history.state, '', toTransformUrl(id, recipe));
  }, [id, recipe]);
  if (recipe === undefined) return <p>Image transforms are not available on this server.</p>;
  return (
    <>
      <p>
        Source:{' '}
        <a href={linkToLocation({ ...ROOT_LOCATION, folder: file.relativeDirectory, file: id })}>{file.relativePath}</a>
        <span class="quiet"> · {toSize(file)}</span>
      </p>
      <Editor file={file} transforms={transforms} recipe={recipe} onRecipe={setRecipe} />
    </>
  );
}

const toSize = ({ childImageProc }: Original): string => {
  const size = childImageProc?.original;
  return size ? `${size.width} × ${size.height} pixels` : 'unreadable image';
};

interface EditorProps {
  readonly file: Original;
  readonly transforms: readonly TransformField[];
  readonly recipe: TransformForm;
  readonly onRecipe: (recipe: TransformForm) => void;
}

function Editor({ file, transforms, recipe, onRecipe }: EditorProps) {
  const { relativePath: path } = file;
  const source = { src: file.childImageProc?.original?.src ?? '', bytes: file.size };
  const { shape, values, results } = recipe;
  const { text, problems } = formatArguments(shape.field.arguments, values);
  const isWritten = Object.keys(problems).length === 0;
  const made = useDerivedImage({ path, shape, args: text, results, isWritten });
  const all = made.field === undefined ? problems : { ...problems, [made.field]: made.problem?.message ?? '' };
  return (
    <div class="workbench">
      <TransformFields transforms={transforms} recipe={recipe} problems={all} onRecipe={onRecipe} />
      <div class="derived">
        <TransformPreview source={source} made={made} shape={shape} isWritten={isWritten} />
        {isWritten && (
          <FormatMatrix
            key={`${shape.name} ${path}`}
            path={path}
            source={source}
            recipe={recipe}
            onChosen={(chosen) => onRecipe({ ...recipe, values: { ...values, ...chosen } })}
          />
        )}
        <QueryText path={path} recipe={recipe} args={text} />
        {isWritten && <PictureMarkup path={path} recipe={recipe} />}
      </div>
    </div>
  );
}

interface QueryTextProps {
  readonly path: string;
  readonly recipe: TransformForm;
  readonly args: string;
}

/** The GraphQL query for the derived image, with buttons that copy and open it. */
function QueryText({ path, recipe: { shape, results }, args }: QueryTextProps) {
  const query = formatQuery(path, shape.field.name, args, results);
  return (
    <section aria-labelledby="the-query">
      <h2 id="the-query">Query</h2>
      <pre class="query" tabIndex={0} role="region" aria-label="Query text">
        <code>{query}</code>
      </pre>
      <p class="acts">
        <CopyButton value={query} what="the query" />
        <a class="button" href={`/graphql#${new URLSearchParams({ query }).toString()}`}>
          Open in GraphiQL
        </a>
      </p>
    </section>
  );
}

/** Waits for the user to stop typing. */
const QUERY_DELAY_MS = 600;

interface PictureResult {
  readonly file: { readonly childImageProc: Readonly<Record<string, PictureImage | null>> | null } | null;
}

interface PictureMarkupProps {
  readonly path: string;
  readonly recipe: TransformForm;
}

/** The HTML of a picture with the newest formats first, to copy. Its links stay valid. */
function PictureMarkup({ path, recipe }: PictureMarkupProps) {
  const query = toPictureQuery(recipe);
  const [found, setFound] = useState<{ readonly markup?: string; readonly problem?: Problem }>({});
  useEffect(() => {
    if (query === undefined) return;
    return queryLater<PictureResult>([query, { path }], QUERY_DELAY_MS, ({ result, error }) =>
      setFound(result ? { markup: formatPicture(result.file?.childImageProc ?? {}) } : { problem: toProblem(error) }),
    );
  }, [path, query]);
  const { markup, problem } = found;
  if (query === undefined) return null;
  return (
    <section aria-labelledby="the-markup">
      <h2 id="the-markup">HTML</h2>
      {problem !== undefined && (
        <p class="problem">
          <ProblemText problem={problem} />
        </p>
      )}
      {markup !== undefined && (
        <>
          <pre class="query" tabIndex={0} role="region" aria-label="HTML of the picture">
            <code>{markup}</code>
          </pre>
          <p class="acts">
            <CopyButton value={markup} what="the HTML" />
          </p>
          <p class="quiet">
            {PICTURE_FORMATS.map(({ format }) => format).join(' and ')} for the browsers that have them. Write the
            alternative text; it is empty for images that only decorate.
          </p>
        </>
      )}
    </section>
  );
}

const WANTED = ['src', 'srcSet', 'sizes', 'width', 'height', 'presentationWidth', 'presentationHeight'];

/** Returns the query for the links of a picture; `undefined` for transforms without a chosen format or without links. */
function toPictureQuery({ shape, values }: TransformForm): string | undefined {
  const { name, arguments: args, results } = shape.field;
  const hasFormats = args.some((argument) => argument.name === 'toFormat');
  if (shape.name !== name || !hasFormats) return undefined;
  const selection = WANTED.filter((wanted) => results.some((result) => result.name === wanted)).join(' ');
  const select = (alias: string, more: TransformForm['values']): string =>
    `${alias}: ${name}${formatArguments(args, { ...values, ...more }).text} { ${selection} }`;
  const sources = PICTURE_FORMATS.map(({ format, name: alias }) => select(alias, { toFormat: format }));
  return `query picture($path: String!) {
  file(relativePath: {eq: $path}) { childImageProc { ${[...sources, select('image', {})].join(' ')} } }
}`;
}
