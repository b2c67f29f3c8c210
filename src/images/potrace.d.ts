/** What we use of potrace, which declares nothing itself. */
declare module 'potrace' {
  import type Jimp from 'jimp';

  export class Potrace {
    constructor(options: Readonly<Record<string, unknown>>);
    /** With a picture that is decoded already, calls back before it returns. */
    loadImage(picture: Jimp, done: (error: Error | null) => void): void;
    getSVG(): string;
  }
}
