import { useState } from 'preact/hooks';
import { ActionButton } from '../../ui/buttons.js';
import { FormError, useFormError } from '../../ui/form.js';
import { querySite } from '../query-site.js';
import { formatBytes, formatShare, useFileSizes } from './derived-image.js';
import type { SourceImage } from './transform-preview.js';
import { formatArguments, type TransformForm } from './transform.js';

const QUALITIES = ['40', '60', '80'];

/** The formats that the argument `toFormat` of a transform accepts, from the smallest files to the largest. */
const listFormats = ({ shape }: TransformForm): readonly string[] => {
  const names = shape.field.arguments.find(({ name }) => name === 'toFormat')?.values?.map(({ name }) => name) ?? [];
  return ['AVIF', 'WEBP', 'JPG', 'PNG'].filter((name) => names.includes(name));
};

interface MatrixProps {
  readonly path: string;
  readonly source: SourceImage;
  readonly recipe: TransformForm;
  readonly onChosen: (values: { readonly toFormat: string; readonly quality: string }) => void;
}

interface Matrix {
  /** The links by format and quality, such as `AVIF_40`. */
  readonly links: ReadonlyMap<string, string>;
  /** The arguments for which the links were requested. */
  readonly args: string;
}

/** A table of the sizes of the image in all formats and several qualities, of which the user can choose one. */
export function FormatMatrix({ path, source, recipe, onChosen }: MatrixProps) {
  const formats = listFormats(recipe);
  const args = formatArguments(recipe.shape.field.arguments, omitFormat(recipe.values)).text;
  const [matrix, setMatrix] = useState<Matrix>();
  const [problem, compare] = useFormError(async () =>
    setMatrix({ args, links: await requestLinks(path, recipe, formats) }),
  );
  const isCurrent = matrix?.args === args;
  const bytes = useFileSizes(isCurrent ? [...matrix.links.values()] : []);
  if (formats.length === 0) return null;
  return (
    <section aria-labelledby="the-formats">
      <h2 id="the-formats">Formats and qualities</h2>
      {isCurrent ? (
        <table class="formats" aria-label="Bytes by format and quality">
          <thead>
            <tr>
              <th scope="col">Format</th>
              {QUALITIES.map((quality) => (
                <th key={quality} scope="col">
                  Quality {quality}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {formats.map((format) => (
              <tr key={format}>
                <th scope="row">{format}</th>
                {QUALITIES.map((quality) => {
                  const size = bytes.get(matrix.links.get(toKey(format, quality)) ?? '');
                  const isChosen = recipe.values.toFormat === format && recipe.values.quality === quality;
                  return (
                    <td key={quality}>
                      <button
                        type="button"
                        aria-pressed={isChosen}
                        onClick={() => onChosen({ toFormat: format, quality })}
                      >
                        {formatBytes(size)}
                        <span class="aside"> bytes, </span> <span class="quiet">{formatShare(size, source.bytes)}</span>
                        <span class="aside">
                          , use {format} with quality {quality}
                        </span>
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="acts">
          <ActionButton onAct={compare}>Compare formats</ActionButton>
        </p>
      )}
      <FormError problem={problem} />
      <p class="quiet">
        The original has {source.bytes.toLocaleString()} bytes. Comparing generates {formats.length * QUALITIES.length}{' '}
        images.
      </p>
    </section>
  );
}

const toKey = (format: string, quality: string): string => `${format}_${quality}`;

const omitFormat = (values: TransformForm['values']): TransformForm['values'] => ({
  ...values,
  toFormat: '',
  quality: '',
});

interface LinksResult {
  readonly file: {
    readonly childImageProc: Readonly<Record<string, { readonly src: string | null } | null>> | null;
  } | null;
}

/** Requests the links of all combinations in one query. */
async function requestLinks(
  path: string,
  { shape, values }: TransformForm,
  formats: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const combinations = formats.flatMap((format) => QUALITIES.map((quality) => ({ format, quality })));
  const fields = combinations.map(({ format, quality }) => {
    const { text } = formatArguments(shape.field.arguments, { ...values, toFormat: format, quality });
    return `${toKey(format, quality)}: ${shape.field.name}${text} { src }`;
  });
  const { file } = await querySite<LinksResult>(
    `query formats($path: String!) { file(relativePath: {eq: $path}) { childImageProc { ${fields.join(' ')} } } }`,
    { path },
  );
  return new Map(
    Object.entries(file?.childImageProc ?? {}).flatMap(([key, made]) => (made?.src ? [[key, made.src]] : [])),
  );
}
