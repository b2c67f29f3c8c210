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

/** More widths than anybody's screens have; each is a link in the answer. */
const MAX_BREAKPOINTS = 64;

/** A `sizes` attribute has a condition for some layouts, not a text of its own. */
const MAX_SIZES_CHARACTERS = 2_000;

/**
 * Holds all arguments of a field to their bounds.
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

/** The size that an image is cut from: as the picture is shown, or as it lies in the file. */
export const sizeBeforeTrim = (metadata: ImageMetadata, { orient }: Operations): Size =>
  orient ? { width: metadata.width, height: metadata.height } : lyingSize(metadata);

/** What was measured is the picture as it lies in the file. */
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
