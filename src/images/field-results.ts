import type { FixedArguments, FluidArguments, ImageArguments, ResizeArguments } from './arguments.js';
import { assertSides, assertWithin } from './bounds.js';
import { parseColour } from './colours.js';
import { assertPreview } from './image-request.js';
import type { ImageRequest, ImageFieldDependencies } from './image-request.js';
import { toFixed } from './fixed.js';
import { toFluid } from './fluid.js';
import type { ImageMetadata } from './metadata.js';
import { assertEncoding, toOperations } from './transform.js';
import type { Operations } from './transform.js';
import { toResized } from './resize.js';
import { sizeInFile } from './sizes.js';
import type { Size } from './sizes.js';
import { toTraceOptions } from './trace.js';

export interface FieldArguments {
  readonly fixed: FixedArguments;
  readonly fluid: FluidArguments;
  readonly resize: ResizeArguments;
}

export type FieldName = keyof FieldArguments;

/** Far more widths than a layout needs; each one adds a link to the response. */
const MAX_BREAKPOINTS = 64;

/** Enough for one media condition per layout. */
const MAX_SIZES_CHARACTERS = 2_000;

/**
 * Validates all arguments of a field and returns the operations that they request.
 *
 * @throws AppError `invalid_input` that names the argument.
 */
export function parseOperations(field: FieldName, args: FieldArguments[FieldName]): Operations {
  assertEncoding(args);
  if (args.traceSVG) toTraceOptions(args.traceSVG);
  if (args.background) parseColour('background', args.background);
  if (field === 'fluid') requireFluid(args);
  else assertSides({ width: (args as FixedArguments).width, height: (args as FixedArguments).height });
  if (field !== 'resize') assertPreview(args as FixedArguments);
  return toOperations(args);
}

function requireFluid({ maxWidth, maxHeight, srcSetBreakpoints, sizes }: FluidArguments): void {
  assertSides({ maxWidth, maxHeight });
  assertWithin('the number of srcSetBreakpoints', srcSetBreakpoints?.length, { min: 0, max: MAX_BREAKPOINTS });
  for (const breakpoint of srcSetBreakpoints ?? []) assertSides({ srcSetBreakpoints: breakpoint });
  assertWithin('the length of sizes', sizes?.length, { min: 0, max: MAX_SIZES_CHARACTERS });
}

/** Returns the size of the source image: with its EXIF orientation applied if the operations do so, else as stored. */
export const untrimmedSize = (metadata: ImageMetadata, { orient }: Operations): Size =>
  orient ? { width: metadata.width, height: metadata.height } : sizeInFile(metadata);

/** Returns the size of a measured trim box, which refers to the pixels as stored, in the orientation of the result. */
export const trimmedSize = ({ width, height }: Size, { orientation }: ImageMetadata, { orient }: Operations): Size =>
  sizeInFile({ width, height, orientation: orient ? orientation : 1 });

const FIELDS = { fixed: toFixed, fluid: toFluid, resize: toResized };

export type FieldResult<Field extends FieldName> = ReturnType<(typeof FIELDS)[Field]>;

export const toFieldResult = <Field extends FieldName>(
  field: Field,
  parts: ImageFieldDependencies,
  draft: ImageRequest<FieldArguments[Field]>,
): FieldResult<Field> =>
  (FIELDS[field] as (parts: ImageFieldDependencies, draft: ImageRequest<ImageArguments>) => FieldResult<Field>)(
    parts,
    draft,
  );
