/** What the form says, as text; empty leaves it to the schema's default. */
export interface Recipe {
  readonly field: 'fixed' | 'fluid' | 'resize';
  readonly width: string;
  readonly height: string;
  readonly fit: string;
  readonly cropFocus: string;
  readonly toFormat: string;
  readonly quality: string;
  readonly rotate: string;
  readonly background: string;
  readonly trim: string;
  readonly grayscale: boolean;
  readonly highlight: string;
  readonly shadow: string;
  readonly traced: boolean;
}

export const NO_RECIPE: Recipe = {
  field: 'fixed',
  width: '400',
  height: '',
  fit: '',
  cropFocus: '',
  toFormat: '',
  quality: '',
  rotate: '',
  background: '',
  trim: '',
  grayscale: false,
  highlight: '',
  shadow: '',
  traced: false,
};

/** What each field of an image answers that a page uses. */
const RESULTS: Readonly<Record<Recipe['field'], string>> = {
  fixed: 'width height src srcSet',
  fluid: 'aspectRatio sizes src srcSet',
  resize: 'width height src',
};

/** The field of the recipe with its arguments, those that are left to the schema left out. */
function formatField(recipe: Recipe): string {
  const { field, traced } = recipe;
  const args = listArguments(recipe);
  const shown = args.length === 0 ? '' : `(${args.join(', ')})`;
  return `${field}${shown} { ${RESULTS[field]}${traced ? ' tracedSVG' : ''} }`;
}

/** The whole query, to be copied. */
export const formatQuery = (path: string, recipe: Recipe): string => `{
  file(relativePath: {eq: ${JSON.stringify(path)}}) {
    childImageProc {
      ${formatField(recipe)}
    }
  }
}`;

function listArguments(recipe: Recipe): string[] {
  const { field, width, height, fit, cropFocus, toFormat, quality, rotate, background, trim } = recipe;
  const [across, down] = field === 'fluid' ? ['maxWidth', 'maxHeight'] : ['width', 'height'];
  const written: readonly (readonly [string, string])[] = [
    [across, toNumber(width)],
    [down, toNumber(height)],
    ['fit', fit],
    ['cropFocus', cropFocus],
    ['toFormat', toFormat],
    ['quality', toNumber(quality)],
    ['rotate', toNumber(rotate)],
    ['background', background === '' ? '' : JSON.stringify(background)],
    ['trim', toNumber(trim)],
    ['grayscale', recipe.grayscale ? 'true' : ''],
    ['duotone', toDuotone(recipe)],
  ];
  return written.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`);
}

/** Only what GraphQL reads as a number. */
const toNumber = (text: string): string => (/^-?\d+(?:\.\d+)?$/.test(text.trim()) ? text.trim() : '');

function toDuotone({ highlight, shadow }: Recipe): string {
  if (highlight === '' || shadow === '') return '';
  return `{highlight: ${JSON.stringify(highlight)}, shadow: ${JSON.stringify(shadow)}}`;
}
