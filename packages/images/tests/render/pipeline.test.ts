import sharp, { type Sharp } from 'sharp';
import type { ImageArguments } from '../../src/plan/arguments.js';
import { trimmedSize, untrimmedSize } from '../../src/plan/field-results.js';
import { fitFrame, type Frame } from '../../src/plan/sizes.js';
import { toOperations, toOutput, toTransform } from '../../src/plan/transform.js';
import { readHeader } from '../../src/render/open-image.js';
import { measureTrim, renderImage } from '../../src/render/pipeline.js';
import type { ImageDimensions, ImageSource } from '../../src/source.js';
import { createImageFolder, type ImageFolder, scene } from '../image-folder.js';

let pictures: ImageFolder;
beforeAll(async () => void (pictures = await createImageFolder()));
afterAll(() => pictures.remove());

async function make(source: ImageSource, frame: Frame, args: ImageArguments): Promise<Buffer> {
  const header = await readHeader(source);
  const operations = toOperations(args);
  const { trim } = operations;
  const metadata: ImageDimensions =
    trim === undefined ? header : { ...header, trimmed: await measureTrim(source, header, trim) };
  const size = metadata.trimmed
    ? trimmedSize(metadata.trimmed, metadata, operations)
    : untrimmedSize(metadata, operations);
  const { format } = toOutput(source.ext, args.toFormat);
  return renderImage(
    source,
    metadata,
    toTransform(fitFrame(size, frame, args.fit ?? 'COVER'), format, operations, args),
  );
}

type RGBA = [number, number, number, number];

interface Case {
  readonly operation: string;
  readonly frame: Frame;
  readonly args: ImageArguments;
  readonly bare: (photo: Sharp) => Sharp | Promise<Sharp>;
}

const square = { width: 80, height: 80 };

/** The matrix that follows from the definition of the gradient for a black shadow and a red highlight. */
const RED_TONES: [number, number, number][] = [
  [0.2126, 0.7152, 0.0722],
  [0, 0, 0],
  [0, 0, 0],
];

const focuses = [
  'CENTER',
  'NORTH',
  'EAST',
  'SOUTH',
  'WEST',
  'NORTHEAST',
  'NORTHWEST',
  'SOUTHEAST',
  'SOUTHWEST',
] as const;

test.each<Case>([
  { operation: 'width', frame: { width: 120 }, args: {}, bare: (photo) => photo.resize(120) },
  { operation: 'height', frame: { height: 60 }, args: {}, bare: (photo) => photo.resize({ height: 60 }) },
  {
    operation: 'COVER by attention',
    frame: square,
    args: {},
    bare: (photo) => photo.resize({ ...square, position: 'attention' }),
  },
  {
    operation: 'COVER by entropy',
    frame: square,
    args: { cropFocus: 'ENTROPY' },
    bare: (photo) => photo.resize({ ...square, position: 'entropy' }),
  },
  ...focuses.map((cropFocus) => ({
    operation: `COVER to ${cropFocus}`,
    frame: square,
    args: { cropFocus },
    bare: (photo: Sharp) => photo.resize({ ...square, position: cropFocus.toLowerCase() }),
  })),
  {
    operation: 'CONTAIN',
    frame: square,
    args: { fit: 'CONTAIN', background: '#c00' },
    bare: (photo) => photo.resize({ ...square, fit: 'contain', background: '#c00' }),
  },
  {
    operation: 'FILL',
    frame: square,
    args: { fit: 'FILL' },
    bare: (photo) => photo.resize({ ...square, fit: 'fill' }),
  },
  {
    operation: 'INSIDE',
    frame: square,
    args: { fit: 'INSIDE' },
    bare: (photo) => photo.resize({ ...square, fit: 'inside' }),
  },
  {
    operation: 'OUTSIDE',
    frame: square,
    args: { fit: 'OUTSIDE' },
    bare: (photo) => photo.resize({ ...square, fit: 'outside' }),
  },
  {
    operation: 'enlarging',
    frame: { width: 700 },
    args: {},
    bare: (photo) => photo.resize(700),
  },
  {
    operation: 'grayscale',
    frame: { width: 120 },
    args: { grayscale: true },
    bare: (photo) => photo.grayscale().resize(120),
  },
  {
    operation: 'duotone',
    frame: { width: 120 },
    args: { duotone: { shadow: '#000000', highlight: '#ff0000' } },
    bare: async (photo) => sharp(await photo.resize(120).png().toBuffer()).recomb(RED_TONES as never),
  },
  {
    operation: 'duotone with opacity 0, which means full opacity',
    frame: { width: 120 },
    args: { duotone: { shadow: '#000000', highlight: '#ff0000', opacity: 0 } },
    bare: async (photo) => sharp(await photo.resize(120).png().toBuffer()).recomb(RED_TONES as never),
  },
  ...[90, 180, 270, 45, 30].map((rotate) => ({
    operation: `rotate by ${rotate}`,
    frame: { width: 120 },
    args: { rotate },
    bare: async (photo: Sharp) => sharp(await photo.resize(120).png().toBuffer()).rotate(rotate),
  })),
  {
    operation: 'rotate after cropping',
    frame: { width: 120, height: 40 },
    args: { rotate: 90, cropFocus: 'NORTH' },
    bare: async (photo) =>
      sharp(await photo.resize({ width: 120, height: 40, position: 'north' }).png().toBuffer()).rotate(90),
  },
])('renderImage: $operation gives the same image as sharp', async ({ frame, args, bare }) => {
  const whole = await scene(300, 200).png().toBuffer();
  const made = await make(await pictures.put('photo.png', whole), frame, { ...args, pngQuality: 100 });
  await expectAlike(made, await (await bare(sharp(whole))).png().toBuffer());
});

test('renderImage: blends the image with a half-opaque duotone', async () => {
  const white = sharp({ create: { width: 20, height: 20, channels: 3, background: '#fff' } }).png();
  const duotone = { shadow: '#102030', highlight: '#3264c8', opacity: 50 };
  const made = await make(await pictures.put('white.png', white), { width: 10 }, { duotone, pngQuality: 100 });
  const pixels = await sharp(made).raw().toBuffer();
  expect([...pixels.subarray(0, 3)]).toEqual([(255 + 50) / 2, (255 + 100) / 2, (255 + 200) / 2].map(Math.round));
});

test.each([true, false])(
  'renderImage: duotone and scaling preserve transparency, with grayscale %s',
  async (grayscale) => {
    const half = sharp({
      create: { width: 40, height: 40, channels: 4, background: { r: 255, g: 255, b: 255, alpha: 0.5 } },
    });
    const duotone = { shadow: '#ff0000', highlight: '#0000ff' };
    const source = await pictures.put('half.png', half.png());
    const made = await make(source, { width: 20 }, { duotone, grayscale, pngQuality: 100 });
    expect([...(await sharp(made).raw().toBuffer()).subarray(0, 4)]).toEqual([0, 0, 255, 128]);
  },
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])('renderImage: an image of EXIF orientation %i is upright', async (orientation) => {
  const upright = scene(120, 80);
  const stored = await unturn(await upright.png().toBuffer(), orientation)
    .png()
    .toBuffer();
  const source = await pictures.put(
    `o${orientation}.jpg`,
    sharp(stored).withMetadata({ orientation }).jpeg({ quality: 100 }),
  );
  const made = await make(source, { width: 60 }, { quality: 100 });
  const { orientation: written, exif } = await sharp(made).metadata();
  expect([written, exif]).toEqual([undefined, undefined]);
  // The tolerance covers two JPEG encodings; a wrong rotation differs by 40.
  await expectAlike(made, await scene(120, 80).resize(60).png().toBuffer(), 5);
});

/** Returns the pixels of an upright image as stored in a file of this orientation. */
function unturn(upright: Buffer, orientation: number): Sharp {
  const image = sharp(upright);
  switch (orientation) {
    case 2:
      return image.flop();
    case 3:
      return image.rotate(180);
    case 4:
      return image.flip();
    case 5:
      return image.rotate(270).flop();
    case 6:
      return image.rotate(270);
    case 7:
      return image.rotate(90).flop();
    case 8:
      return image.rotate(90);
    default:
      return image;
  }
}

test('renderImage: an explicit rotation replaces the EXIF orientation', async () => {
  const lying = await scene(80, 120).png().toBuffer();
  const source = await pictures.put('lying.jpg', sharp(lying).withMetadata({ orientation: 6 }).jpeg({ quality: 100 }));
  const made = await make(source, { width: 60 }, { rotate: 180, quality: 100 });
  await expectAlike(
    made,
    await sharp(await sharp(lying).resize(60).png().toBuffer())
      .rotate(180)
      .png()
      .toBuffer(),
  );
});

test('renderImage: trims a border before all other operations', async () => {
  const inner = await scene(200, 120).png().toBuffer();
  const bordered = sharp(inner).extend({ top: 40, bottom: 20, left: 30, right: 50, background: '#fff' });
  const source = await pictures.put('border.png', bordered.png());
  const made = await make(source, { width: 100 }, { trim: 20, pngQuality: 100 });
  await expectAlike(made, await sharp(inner).resize(100).png().toBuffer());
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'renderImage: trims the border of an image of EXIF orientation %i',
  async (orientation) => {
    const inner = await scene(200, 120).png().toBuffer();
    const bordered = await sharp(inner)
      .extend({ top: 40, bottom: 20, left: 30, right: 50, background: '#fff' })
      .png()
      .toBuffer();
    const stored = await unturn(bordered, orientation).png().toBuffer();
    const source = await pictures.put(
      `b${orientation}.tif`,
      sharp(stored).withMetadata({ orientation }).tiff({ compression: 'lzw' }),
    );
    const made = await make(source, { width: 100 }, { trim: 20, toFormat: 'PNG', pngQuality: 100 });
    await expectAlike(made, await sharp(inner).resize(100).png().toBuffer());
  },
);

test('measureTrim: returns the whole image if it has a single colour', async () => {
  const plain = sharp({ create: { width: 30, height: 20, channels: 3, background: '#fff' } });
  const source = await pictures.put('plain.png', plain.png());
  await expect(measureTrim(source, await readHeader(source), 10)).resolves.toEqual({
    left: 0,
    top: 0,
    width: 30,
    height: 20,
  });
});

test.each([
  [1, 1],
  [2, 900],
])('renderImage: an image of %i × %i pixels has no border to trim', async (width, height) => {
  const source = await pictures.put('small.png', scene(width, height).png());
  await expect(sharp(await make(source, {}, { trim: 10 })).metadata()).resolves.toMatchObject({ width, height });
});

test.each([
  ['JPG', 'jpeg'],
  ['PNG', 'png'],
  ['WEBP', 'webp'],
  ['AVIF', 'heif'],
] as const)('renderImage: toFormat %s gives a %s file', async (toFormat, format) => {
  const source = await pictures.put('any.tif', scene(60, 40).tiff());
  const made = await make(source, { width: 30 }, { toFormat });
  await expect(sharp(made).metadata()).resolves.toMatchObject({ format, width: 30, height: 20 });
});

test.each([
  ['a.jpeg', 'jpeg'],
  ['a.PNG', 'png'],
  ['a.webp', 'webp'],
  ['a.tiff', 'tiff'],
  ['a.avif', 'heif'],
  ['a.gif', 'gif'],
  ['a.svg', 'png'],
])('renderImage: the format of %s is written as %s', async (name, format) => {
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>';
  const content = name.endsWith('.svg') ? drawing : scene(60, 40).toFormat(name.slice(2).toLowerCase() as 'png');
  const made = await make(await pictures.put(name, content), { width: 30 }, {});
  await expect(sharp(made).metadata()).resolves.toMatchObject({ format, width: 30, height: 20 });
});

test.each([
  ['jpegQuality', 'JPG'],
  ['webpQuality', 'WEBP'],
  ['pngQuality', 'PNG'],
  ['quality', 'AVIF'],
] as const)('renderImage: a lower %s gives a smaller file', async (argument, toFormat) => {
  const source = await pictures.put('bytes.png', scene(300, 200).png());
  const low = await make(source, { width: 200 }, { toFormat, [argument]: 10 });
  const high = await make(source, { width: 200 }, { toFormat, [argument]: 90 });
  expect(low.length).toBeLessThan(high.length * 0.8);
});

test.each([true, false])(
  'renderImage: writes a progressive JPEG if jpegProgressive is true: %s',
  async (jpegProgressive) => {
    const source = await pictures.put('p.jpg', scene(60, 40).jpeg());
    const { isProgressive } = await sharp(await make(source, { width: 30 }, { jpegProgressive })).metadata();
    expect(isProgressive).toBe(jpegProgressive);
  },
);

test('renderImage: PNG has a palette below quality 100, and the requested compression level', async () => {
  const source = await pictures.put('levels.png', scene(300, 200).png());
  const chosen = await sharp(await make(source, { width: 200 }, {})).metadata();
  const best = await sharp(await make(source, { width: 200 }, { pngQuality: 100 })).metadata();
  expect([chosen.isPalette, best.isPalette]).toEqual([true, false]);
  const [loose, hard] = await Promise.all(
    [0, 9].map((pngCompressionLevel) => make(source, { width: 200 }, { pngCompressionLevel, pngQuality: 100 })),
  );
  expect(hard!.length).toBeLessThan(loose!.length / 2);
});

test('renderImage: converts an ICC profile to sRGB and removes it', async () => {
  const source = await pictures.put('p3.png', scene(60, 40).withIccProfile('p3').png());
  const made = await make(source, { width: 30 }, { pngQuality: 100 });
  expect((await sharp(made).metadata()).icc).toBeUndefined();
  await expectAlike(made, await scene(60, 40).resize(30).png().toBuffer());
});

test.each<[string, ImageArguments, RGBA]>([
  ['in grey', { grayscale: true }, [107, 107, 107, 255]],
  ['with a background', { fit: 'CONTAIN', background: '#ff00ff' }, [255, 0, 255, 255]],
])('renderImage: a GIF %s has colours that its source lacks', async (_how, args, corner) => {
  const source = await pictures.put('palette.gif', scene(60, 40).gif());
  const made = await make(source, { width: 30, height: 30 }, args);
  const { data } = await sharp(made).raw().toBuffer({ resolveWithObject: true });
  expect([...data.subarray(0, 4)]).toEqual(corner);
});

test.each(['GIF', 'WEBP'] as const)('renderImage: an animated GIF keeps its frames as %s', async (name) => {
  const source = await pictures.put(
    'frames.gif',
    await animation()
      .gif({ delay: [100, 200, 300], loop: 2 })
      .toBuffer(),
  );
  const toFormat = name === 'WEBP' ? 'WEBP' : 'NO_CHANGE';
  for (const args of [{}, { duotone: { shadow: '#000000', highlight: '#ff0000' } }, { cropFocus: 'NORTH' as const }]) {
    const made = await make(source, { width: 20, height: 20 }, { toFormat, ...args });
    const { pages, delay, loop, pageHeight, width } = await sharp(made, { animated: true }).metadata();
    expect({ pages, delay, loop, pageHeight, width }).toEqual({
      pages: 3,
      delay: [100, 200, 300],
      loop: 2,
      pageHeight: 20,
      width: 20,
    });
  }
});

test.each<[string, string, ImageArguments]>([
  ['a WEBP', 'frames.webp', {}],
  ['a GIF that is converted to JPEG', 'frames.gif', { toFormat: 'JPG' }],
  ['a rotated GIF', 'frames.gif', { rotate: 90 }],
])('renderImage: reduces %s to its first frame', async (_reason, name, args) => {
  const source = await pictures.put(
    name,
    await animation()
      .toFormat(name.slice(7) as 'gif')
      .toBuffer(),
  );
  const { pages } = await sharp(await make(source, { width: 20 }, args), { animated: true }).metadata();
  expect(pages ?? 1).toBe(1);
});

function animation(): Sharp {
  const frame = (background: string) => ({ create: { width: 60, height: 40, channels: 3 as const, background } });
  return sharp(['#f00', '#0f0', '#00f'].map(frame) as never, { join: { animated: true } });
}

test('renderImage: rejects a truncated image with an error that names the file', async () => {
  const whole = await scene(300, 200).jpeg().toBuffer();
  const source = await pictures.put('cut/short.jpg', whole.subarray(0, whole.length / 2));
  await expect(make(source, { width: 100 }, {})).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining('"cut/short.jpg"') as string,
  });
});

test('renderImage: a drawing does not include the files that it refers to', async () => {
  const red = await pictures.put(
    'secret.png',
    sharp({ create: { width: 9, height: 9, channels: 3, background: '#f00' } }).png(),
  );
  const image = (href: string) => `<image href="${href}" width="9" height="9"/>`;
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
    ${image('secret.png')}${image(`file://${red.absolutePath}`)}${image('http://127.0.0.1:9/a.png')}</svg>`;
  const made = await make(await pictures.put('names.svg', drawing), { width: 9 }, { pngQuality: 100 });
  const { channels } = await sharp(made).stats();
  expect(channels.map(({ max }) => max)).toEqual([0, 0, 0, 0]);
});

/** Expects two images of the same size whose colours differ only by the effects of encoding. */
async function expectAlike(made: Buffer, wanted: Buffer, tolerance = 3): Promise<void> {
  const [one, other] = await Promise.all([made, wanted].map(toPixels));
  expect([one!.info.width, one!.info.height]).toEqual([other!.info.width, other!.info.height]);
  const differences = one!.data.map((value, index) => Math.abs(value - (other!.data[index] ?? 0)));
  expect(differences.reduce((sum, value) => sum + value, 0) / differences.length).toBeLessThan(tolerance);
}

const toPixels = (bytes: Buffer) =>
  sharp(bytes).toColourspace('srgb').removeAlpha().raw().toBuffer({ resolveWithObject: true });
