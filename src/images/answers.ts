import type { FixedArguments, FluidArguments, ImageArguments, ResizeArguments } from './arguments.js';
import { requireSides, requireWithin } from './bounds.js';
import { parseColour } from './colours.js';
import { requirePreview } from './draft.js';
import type { Draft, DraftParts } from './draft.js';
import { toFixed } from './fixed.js';
import { toFluid } from './fluid.js';
import type { ImageMetadata } from './metadata.js';
import { requireEncoding, toOperations } from './recipe.js';
import type { Operations } from './recipe.js';
import { toResized } from './resize.js';
import { lyingSize } from './sizes.js';
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
export function toCheckedOperations(field: FieldName, args: FieldArguments[FieldName]): Operations {
  requireEncoding(args);
  if (args.traceSVG) toTraceOptions(args.traceSVG);
  if (args.background) parseColour('background', args.background);
  if (field === 'fluid') requireFluid(args);
  else requireSides({ width: (args as FixedArguments).width, height: (args as FixedArguments).height });
  if (field !== 'resize') requirePreview(args as FixedArguments);
  return toOperations(args);
}

function requireFluid({ maxWidth, maxHeight, srcSetBreakpoints, sizes }: FluidArguments): void {
  requireSides({ maxWidth, maxHeight });
  requireWithin('the number of srcSetBreakpoints', srcSetBreakpoints?.length, { min: 0, max: MAX_BREAKPOINTS });
  for (const breakpoint of srcSetBreakpoints ?? []) requireSides({ srcSetBreakpoints: breakpoint });
  requireWithin('the length of sizes', sizes?.length, { min: 0, max: MAX_SIZES_CHARACTERS });
}

/** Returns the size of the source image: with its EXIF orientation applied if the operations do so, else as stored. */
export const sizeBeforeTrim = (metadata: ImageMetadata, { orient }: Operations): Size =>
  orient ? { width: metadata.width, height: metadata.height } : lyingSize(metadata);

/** Returns the size of a measured trim box, which refers to the pixels as stored, in the orientation of the result. */
export const sizeAfterTrim = ({ width, height }: Size, { orientation }: ImageMetadata, { orient }: Operations): Size =>
  lyingSize({ width, height, orientation: orient ? orientation : 1 });

const FIELDS = { fixed: toFixed, fluid: toFluid, resize: toResized };

export type FieldResult<Field extends FieldName> = ReturnType<(typeof FIELDS)[Field]>;

export const toResult = <Field extends FieldName>(
  field: Field,
  parts: DraftParts,
  draft: Draft<FieldArguments[Field]>,
): FieldResult<Field> =>
  (FIELDS[field] as (parts: DraftParts, draft: Draft<ImageArguments>) => FieldResult<Field>)(parts, draft);
