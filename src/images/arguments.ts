/** The arguments that all image fields share, named as in the schema. Null and absent arguments take their defaults. */
export interface ImageArguments {
  readonly background?: string | null;
  readonly cropFocus?: CropFocus | null;
  readonly duotone?: Duotone | null;
  readonly fit?: Fit | null;
  readonly grayscale?: boolean | null;
  readonly jpegProgressive?: boolean | null;
  readonly jpegQuality?: number | null;
  readonly pngQuality?: number | null;
  readonly webpQuality?: number | null;
  readonly quality?: number | null;
  readonly pngCompressionLevel?: number | null;
  readonly pngCompressionSpeed?: number | null;
  readonly rotate?: number | null;
  readonly toFormat?: ImageFormat | null;
  readonly traceSVG?: TraceArguments | null;
  readonly trim?: number | null;
}

export interface FixedArguments extends ImageArguments, PreviewArguments {
  readonly width?: number | null;
  readonly height?: number | null;
}

export interface FluidArguments extends ImageArguments, PreviewArguments {
  readonly maxWidth?: number | null;
  readonly maxHeight?: number | null;
  readonly sizes?: string | null;
  readonly srcSetBreakpoints?: readonly (number | null)[] | null;
}

export interface ResizeArguments extends ImageArguments {
  readonly width?: number | null;
  readonly height?: number | null;
  readonly base64?: boolean | null;
}

export interface PreviewArguments {
  readonly base64Width?: number | null;
  readonly toFormatBase64?: ImageFormat | null;
}

export interface Duotone {
  readonly highlight: string;
  readonly shadow: string;
  readonly opacity?: number | null;
}

export interface TraceArguments {
  readonly turnPolicy?: TurnPolicy | null;
  readonly turdSize?: number | null;
  readonly alphaMax?: number | null;
  readonly optCurve?: boolean | null;
  readonly optTolerance?: number | null;
  readonly threshold?: number | null;
  readonly blackOnWhite?: boolean | null;
  readonly color?: string | null;
  readonly background?: string | null;
}

export type CropFocus =
  | 'ATTENTION'
  | 'CENTER'
  | 'EAST'
  | 'ENTROPY'
  | 'NORTH'
  | 'NORTHEAST'
  | 'NORTHWEST'
  | 'SOUTH'
  | 'SOUTHEAST'
  | 'SOUTHWEST'
  | 'WEST';

export type Fit = 'CONTAIN' | 'COVER' | 'FILL' | 'INSIDE' | 'OUTSIDE';

export type ImageFormat = 'AVIF' | 'JPG' | 'NO_CHANGE' | 'PNG' | 'WEBP';

export type TurnPolicy =
  | 'TURNPOLICY_BLACK'
  | 'TURNPOLICY_WHITE'
  | 'TURNPOLICY_LEFT'
  | 'TURNPOLICY_RIGHT'
  | 'TURNPOLICY_MINORITY'
  | 'TURNPOLICY_MAJORITY';
