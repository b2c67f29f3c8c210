import { useEffect, useState } from 'preact/hooks';
import { type Problem, toProblem } from '../../api.js';
import { CopyButton } from '../../ui/buttons.js';
import { ProblemText } from '../../ui/form.js';
import { querySite } from '../query-site.js';
import { formatPicture, type PictureImage, PICTURE_FORMATS } from './format-picture.js';
import { formatArguments, type TransformForm } from './transform.js';

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
export function PictureMarkup({ path, recipe }: PictureMarkupProps) {
  const query = toPictureQuery(recipe);
  const [found, setFound] = useState<{ readonly markup?: string; readonly problem?: Problem }>({});
  useEffect(() => {
    if (query === undefined) return;
    let isLatest = true;
    const settle = (next: typeof found): void => {
      if (isLatest) setFound(next);
    };
    const timer = setTimeout(() => {
      querySite<PictureResult>(query, { path }).then(
        ({ file }) => settle({ markup: formatPicture(file?.childImageProc ?? {}) }),
        (error: unknown) => settle({ problem: toProblem(error) }),
      );
    }, QUERY_DELAY_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
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
