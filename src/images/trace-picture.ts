import Jimp from 'jimp';
import { Potrace } from 'potrace';
import { optimize } from 'svgo';
import type { TraceOptions } from './trace.js';

/** Pixels of four bytes, row by row, and how to draw their outlines. */
export interface TraceTask {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly options: TraceOptions;
}

/** Draws the outlines as SVG, in whole pixels. It takes its time, and keeps the thread for it. */
export function tracePicture({ data, width, height, options }: TraceTask): string {
  const tracer = new Potrace({ ...options });
  tracer.loadImage(new Jimp({ data, width, height }), () => undefined);
  return optimize(tracer.getSVG(), {
    multipass: true,
    floatPrecision: 0,
    plugins: [
      'preset-default',
      // It fills the place that the picture will take.
      { name: 'addAttributesToSVGElement', params: { attributes: [{ preserveAspectRatio: 'none' }] } },
    ],
  }).data;
}
