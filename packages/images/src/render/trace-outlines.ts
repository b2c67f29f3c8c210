/**
 * Outlines of images. The build includes the third-party code here: potrace alone would install a library of image formats,
 * and this form of svgo contains its parsers.
 */
import Jimp from 'jimp';
import { Potrace } from 'potrace';
import { optimize } from 'svgo/browser';
import type { TraceOptions } from '../plan/arguments.js';

/** RGBA pixels, row by row, and how to trace them. */
export interface TraceTask {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly options: TraceOptions;
}

/** Traces the outlines as an SVG document with integer coordinates. Blocks the thread for up to ten seconds. */
export function traceOutlines({ data, width, height, options }: TraceTask): string {
  const tracer = new Potrace({ ...options });
  tracer.loadImage(new Jimp({ data, width, height }), () => undefined);
  return optimize(tracer.getSVG(), {
    multipass: true,
    floatPrecision: 0,
    plugins: [
      'preset-default',
      // The drawing is stretched to the area of the image that it stands in for.
      { name: 'addAttributesToSVGElement', params: { attributes: [{ preserveAspectRatio: 'none' }] } },
    ],
  }).data;
}
