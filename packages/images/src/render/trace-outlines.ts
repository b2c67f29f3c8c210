import type { TraceOptions } from '../plan/arguments.js';
import { Jimp, Potrace } from './potrace-module.js';
import { optimize } from './svgo-module.js';

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
