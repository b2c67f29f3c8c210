import sharp, { type Sharp } from 'sharp';

interface Scene {
  readonly seed: number;
  readonly alpha?: (x: number) => number;
  readonly grey?: boolean;
}

/** Draws the scene of the images that the stored results were recorded with, without their noise. */
function storedScene(width: number, height: number, { seed, alpha, grey = false }: Scene): Sharp {
  const channels = alpha ? 4 : 3;
  const pixels = Buffer.alloc(width * height * channels);
  const radius = Math.min(width, height) * 0.18;
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let red = 40 + (150 * y) / height;
      let green = 90 + (90 * x) / width;
      let blue = 200 - (120 * y) / height;
      if ((x - 0.3 * width) ** 2 + (y - 0.35 * height) ** 2 < radius ** 2) {
        [red, green, blue] = [235, 200 - ((seed * 13) % 120), 40];
      }
      if (y > height * 0.75 && Math.floor((x / width) * 12) % 2 === 0) [red, green, blue] = [30, 110, 50];
      if (grey) red = green = blue = 0.3 * red + 0.59 * green + 0.11 * blue;
      pixels[at] = red;
      pixels[at + 1] = green;
      pixels[at + 2] = blue;
      if (alpha) pixels[at + 3] = alpha(x / width);
      at += channels;
    }
  }
  return sharp(pixels, { raw: { width, height, channels } });
}

const jpeg = (width: number, height: number, seed: number): Sharp =>
  storedScene(width, height, { seed }).jpeg({ quality: width === 360 || width === 200 ? 80 : 82 });

/** The source images of the stored results. */
export const STORED_FILES: Readonly<Record<string, () => Sharp>> = {
  'images/photos/huge.jpg': () => jpeg(1600, 1200, 1),
  'images/photos/portrait.jpg': () => jpeg(1200, 1600, 2),
  'images/photos/big.jpg': () => jpeg(1000, 750, 3),
  'images/photos/mid.jpg': () => jpeg(400, 300, 5),
  'images/photos/dot.jpg': () => jpeg(1, 1, 9),
  'images/photos/wide.jpg': () => jpeg(3000, 600, 10),
  'images/photos/tall.jpg': () => jpeg(400, 2000, 11),
  'images/photos/odd.jpg': () => jpeg(401, 299, 12),
  'images/photos/größe-日本.jpg': () => jpeg(360, 240, 33),
  'images/photos/grey.jpg': () =>
    storedScene(360, 240, { seed: 36, grey: true }).toColourspace('b-w').jpeg({ quality: 80 }),
  'images/photos/cmyk.jpg': () => storedScene(360, 240, { seed: 37 }).toColourspace('cmyk').jpeg({ quality: 80 }),
  'images/png/alpha-gradient.png': () => storedScene(300, 300, { seed: 51, alpha: (x) => Math.round(255 * x) }).png(),
  'images/png/grey.png': () => storedScene(200, 100, { seed: 55, grey: true }).toColourspace('b-w').png(),
  'images/webp/lossy.webp': () => storedScene(480, 320, { seed: 61 }).webp({ quality: 75 }),
  'images/tiff/scan.tiff': () => storedScene(210, 297, { seed: 63 }).tiff({ compression: 'lzw' }),
  'images/other/jpeg-named.png': () => jpeg(200, 150, 92),
};
