/** The part of potrace that this project uses; the package has no type declarations. */
declare module 'potrace' {
  import type Jimp from 'jimp';

  export class Potrace {
    constructor(options: Readonly<Record<string, unknown>>);
    /** Calls back before it returns when the image is already decoded. */
    loadImage(image: Jimp, done: (error: Error | null) => void): void;
    getSVG(): string;
  }
}
