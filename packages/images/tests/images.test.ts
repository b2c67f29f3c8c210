import { readFile as readBytes, rm } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { openImages, type Images } from '../src/images.js';
import type { TraceArguments } from '../src/plan/arguments.js';
import type { FieldArguments, FieldName } from '../src/plan/field-results.js';
import type { DerivedImage } from '../src/plan/links.js';
import { DRAWING_CPU_MS, type RendererOptions } from '../src/render/renderer.js';
import type { ImageSource } from '../src/source.js';
import { createImageFolder, scene, type ImageFolder } from './image-folder.js';

let pictures: ImageFolder;
let images: Images;
let photo: ImageSource;
const issued: DerivedImage[] = [];
const sources: ImageSource[] = [];

beforeAll(async () => {
  pictures = await createImageFolder();
  photo = await put('photos/a.jpg', scene(640, 480).jpeg());
  images = open('state');
});
afterAll(async () => {
  await images.close();
  await pictures.remove();
});

async function put(name: string, content: Parameters<ImageFolder['put']>[1]): Promise<ImageSource> {
  const source = await pictures.put(name, content);
  // First in the list, so that the latest file is found among those with the same content.
  sources.unshift(source);
  return source;
}

const open = (state: string, renderer?: RendererOptions): Images =>
  openImages({
    renderer,
    stateDirectory: path.join(pictures.folder, state),
    findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
    onLink: (image) => issued.push(image),
  });

/** Returns the format and size of the image behind a link or in a data URI. */
async function look(uri: string): Promise<{ format: string; width: number; height: number }> {
  const [, base64] = /^data:image\/\w+;base64,(.*)$/u.exec(uri) ?? [];
  const route = images.findRoute(uri.replace(/ [\w.]+$/u, '').slice('/static'.length));
  await route?.generate();
  const { format, width, height } = await sharp(
    base64 === undefined
      ? path.join(pictures.folder, 'state/public/images', route?.path ?? '')
      : Buffer.from(base64, 'base64'),
  ).metadata();
  return { format, width, height };
}

interface Sized {
  readonly reason: string;
  readonly file: string;
  readonly args: FieldArguments['resize'];
  readonly wanted: string;
}

test.each<Sized>([
  { reason: 'a rotation by a right angle', file: 'a.jpg', args: { width: 100, rotate: 90 }, wanted: '75x100' },
  { reason: 'a rotation by 45 degrees', file: 'a.jpg', args: { width: 100, rotate: 45 }, wanted: '124x124' },
  {
    reason: 'a rotation after cropping',
    file: 'a.jpg',
    args: { width: 100, height: 20, rotate: 270 },
    wanted: '20x100',
  },
  { reason: 'an EXIF orientation', file: 'turned.jpg', args: { width: 60 }, wanted: '60x90' },
  {
    reason: 'a rotation instead of the EXIF orientation',
    file: 'turned.jpg',
    args: { width: 60, rotate: 90 },
    wanted: '40x60',
  },
  { reason: 'a trimmed border', file: 'border.png', args: { width: 100, trim: 20 }, wanted: '100x50' },
  {
    reason: 'a trimmed border and an EXIF orientation',
    file: 'border-turned.jpg',
    args: { width: 100, trim: 40 },
    wanted: '100x200',
  },
])('resize: returns the size of the derived image for $reason', async ({ file, args, wanted }) => {
  const border = { top: 40, bottom: 20, left: 30, right: 50, background: '#fff' };
  const bordered = sharp(await scene(200, 100).png().toBuffer()).extend(border);
  const files = {
    'a.jpg': scene(640, 480).jpeg(),
    'turned.jpg': scene(240, 160).withMetadata({ orientation: 6 }).jpeg(),
    'border.png': bordered.clone().png(),
    'border-turned.jpg': bordered.clone().withMetadata({ orientation: 8 }).jpeg({ quality: 100 }),
  };
  const source = await put(`sizes/${file}`, files[file as keyof typeof files]);
  const result = await images.answer('resize', source, args);
  const { width, height } = await look(await result.src());
  expect([`${result.width}x${result.height}`, `${width}x${height}`]).toEqual([wanted, wanted]);
});

test('fluid: srcSet has the widths of the derived images after rotation', async () => {
  const { srcSet, presentationWidth, presentationHeight } = await images.answer('fluid', photo, {
    maxWidth: 320,
    rotate: 90,
  });
  expect([presentationWidth, presentationHeight]).toEqual([240, 320]);
  for (const candidate of srcSet.split(',\n')) {
    expect(`${(await look(candidate)).width}w`).toBe(candidate.split(' ')[1]);
  }
});

test.each<[string, FieldArguments['fixed'], object]>([
  ['is 20 pixels wide by default', {}, { format: 'jpeg', width: 20, height: 15 }],
  ['has the width of base64Width', { base64Width: 33 }, { format: 'jpeg', width: 33, height: 25 }],
  ['is 20 pixels wide for a base64Width of 0', { base64Width: 0 }, { format: 'jpeg', width: 20, height: 15 }],
  ['has the format of the derived image', { toFormat: 'WEBP' }, { format: 'webp' }],
  ['has the format of toFormatBase64', { toFormat: 'WEBP', toFormatBase64: 'PNG' }, { format: 'png' }],
  ['is cropped like the image', { width: 100, height: 100 }, { width: 20, height: 20 }],
  ['is rotated like the image', { width: 100, rotate: 90 }, { width: 15, height: 20 }],
])('fixed: the base64 preview %s', async (_reason, args, wanted) => {
  expect(await look(await (await images.answer('fixed', photo, args)).base64())).toMatchObject(wanted);
});

test.each<[string, FieldArguments['resize'], string]>([
  ['20 pixels wide by default', {}, '20x15'],
  ['in the requested size', { width: 33 }, '33x25'],
])('resize: base64 returns a data URI, %s', async (_reason, args, wanted) => {
  const result = await images.answer('resize', photo, { ...args, base64: true });
  const { width, height } = await look(await result.src());
  expect([`${result.width}x${result.height}`, `${width}x${height}`]).toEqual([wanted, wanted]);
});

test('an explicit null for any argument is the same as its absence', async () => {
  const source = await put('null.jpg', scene(640, 480).jpeg());
  const read = async (src: string | (() => string | Promise<string>)) => (typeof src === 'string' ? src : src());
  const nulls = {
    quality: null,
    jpegQuality: null,
    pngCompressionSpeed: null,
    rotate: null,
    trim: null,
    duotone: null,
  };
  for (const field of ['fixed', 'fluid', 'resize'] as const) {
    const results = [{ width: 100 }, { width: 100, height: null, ...nulls }].map((args) =>
      images.answer(field, source, args),
    );
    const [one, other] = await Promise.all(results.map(async (result) => read((await result).src)));
    expect(other).toBe(one);
  }
});

test('fixed and fluid: return WEBP links only if the image is not in WEBP already', async () => {
  const webp = await put('photos/b.webp', scene(100, 80).webp());
  for (const field of ['fixed', 'fluid'] as const) {
    const beside = await images.answer(field, photo, {});
    expect((await look(String(beside.srcWebp()))).format).toBe('webp');
    expect(String(beside.srcSetWebp()).split(',\n')).toHaveLength(beside.srcSet.split(',\n').length);
    for (const [source, args] of [
      [webp, {}],
      [photo, { toFormat: 'WEBP' as const }],
    ] as const) {
      const result = await images.answer(field, source, args);
      expect([result.srcWebp(), result.srcSetWebp()]).toEqual([null, null]);
    }
  }
});

test('fixed and fluid: leave out sizes that the format cannot hold', async () => {
  const panorama = await put('photos/panorama.jpg', scene(20_000, 8).jpeg());
  const widths = (srcSet: string | null) => srcSet?.match(/ \d+w/gu)?.map(Number.parseFloat);
  const fluid = await images.answer('fluid', panorama, { maxWidth: 9_000 });
  expect(widths(fluid.srcSet)).toEqual([2_250, 4_500, 9_000, 13_500, 18_000, 20_000]);
  expect(widths(fluid.srcSetWebp())).toEqual([2_250, 4_500, 9_000, 13_500]);
  expect(fluid.srcWebp()).toMatch(/\.webp$/u);
  const avif = await images.answer('fluid', panorama, { maxWidth: 9_000, toFormat: 'AVIF' });
  expect(widths(avif.srcSet)).toEqual([2_250, 4_500, 9_000, 13_500]);
  expect(avif.originalImg).toMatch(/_w13500_.*\.avif$/u);
  const fixed = await images.answer('fixed', panorama, { width: 9_000, toFormat: 'AVIF' });
  expect(fixed.srcSet.match(/ [\d.]+x/gu)).toEqual([' 1x', ' 1.5x']);
  const large = await images.answer('fluid', panorama, { maxWidth: 20_000 });
  expect([large.srcWebp(), large.srcSetWebp()]).toEqual([null, null]);
  // The values of filters, which concern all images of a site.
  expect(images.peek('fluid', panorama)).toMatchObject({ presentationWidth: 800 });
});

test.each<[string, TraceArguments, RegExp]>([
  ['default options', {}, /viewBox='0 0 100 75'.*fill='#d3d3d3'.*fill-rule='evenodd'/u],
  ['a colour', { color: 'rgb(255,0,0)' }, /fill='red'/u],
  ['a background', { background: '#00f' }, /<rect.*fill='(#00f|blue)'/u],
])('tracedSVG: is an SVG document as a data URI, with %s', async (_reason, traceSVG, wanted) => {
  const uri = await (await images.answer('fixed', photo, { width: 100, traceSVG })).tracedSVG();
  expect(uri).toMatch(/^data:image\/svg\+xml,[^" <>#]+$/u);
  expect(decodeURIComponent(uri)).toMatch(wanted);
});

test.each<[string, TraceArguments]>([
  ['turnPolicy', { turnPolicy: 'TURNPOLICY_BLACK', turdSize: 0, threshold: 120 }],
  ['turdSize', { turdSize: 100_000 }],
  ['alphaMax', { alphaMax: 0 }],
  ['optCurve', { optCurve: false }],
  ['optTolerance', { optTolerance: 5 }],
  ['threshold', { threshold: 200 }],
  ['blackOnWhite', { blackOnWhite: false }],
])('tracedSVG: the outlines depend on %s', async (_argument, traceSVG) => {
  const checks = sharp(Buffer.from(CHECKS)).flatten({ background: '#fff' }).png();
  const source = await put('checks.png', checks);
  const plain = 'threshold' in traceSVG && 'turdSize' in traceSVG ? { turdSize: 0, threshold: 120 } : {};
  const [one, other] = await Promise.all(
    [plain, traceSVG].map(async (trace) =>
      (await images.answer('resize', source, { width: 120, traceSVG: trace })).tracedSVG(),
    ),
  );
  expect(one).not.toBe(other);
});

/** A drawing with curves, corners, and squares that touch at their corners. */
const CHECKS = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120"><circle cx="40" cy="40" r="30"/>
  <path d="M60 60h10v10h-10zM70 70h10v10h-10zM60 80h10v10h-10zM85 60l20 5-7 30z" fill="#000"/>
  <path d="M5 90q30 -20 40 10t20 10" stroke="#888" stroke-width="9" fill="none"/></svg>`;

test('every image field of an unreadable file fails with an error that names the file', async () => {
  const broken = await put('broken/text.png', 'not an image\n');
  for (const field of ['fixed', 'fluid', 'resize'] as const) {
    await expect(images.answer(field, broken, {})).rejects.toThrow('"broken/text.png"');
  }
  await expect(images.original(broken)).rejects.toMatchObject({ code: 'unprocessable' });
  expect(images.peek('original', broken)).toBeUndefined();
});

test.each<[string, FieldName, object]>([
  ['a huge image', 'resize', { width: 60_000 }],
  ['a huge image due to one huge side', 'fluid', { maxWidth: 100, maxHeight: 5000 * 100 }],
  ['a large image as a data URI', 'resize', { width: 2000, base64: true }],
])('image fields reject %s', async (_reason, field, args) => {
  const asked = (async () => (await images.answer(field, photo, args)).src)();
  const made = asked.then((src) => (typeof src === 'function' ? src() : src));
  await expect(made).rejects.toMatchObject({ code: 'invalid_input' });
});

test('peek: returns values without reading the file and without issuing links', async () => {
  const fresh = await put('photos/fresh.png', scene(600, 300).png());
  expect(images.peek('resize', fresh)).toBeUndefined();
  await images.readMissingMetadata(sources);
  const before = issued.length;
  expect(images.peek('original', fresh)).toMatchObject({ width: 600, height: 300 });
  expect(images.peek('resize', fresh)).toMatchObject({ width: 400, height: 200, aspectRatio: 2 });
  expect(images.peek('fixed', fresh)).toMatchObject({
    width: 400,
    srcWebp: expect.stringContaining('.webp') as string,
  });
  expect(issued).toHaveLength(before);
});

test('build and prune: a second build continues an aborted one, and prune removes unused images', async () => {
  const other = open('built');
  const broken = await put('photos/cut.jpg', (await scene(90, 60).jpeg().toBuffer()).subarray(0, 900));
  // Many more images than are generated in parallel.
  const srcSetBreakpoints = Array.from({ length: 30 }, (_none, index) => 10 + index);
  issued.length = 0;
  for (const source of [photo, broken]) await other.answer('fluid', source, { maxWidth: 200, srcSetBreakpoints });
  const asked = [...issued];
  const failures: string[] = [];
  const stop = new AbortController();
  const stopped = other.build(asked, { onProgress: ({ done }) => done === 2 && stop.abort(), signal: stop.signal });
  await expect(stopped).rejects.toThrow('abort');
  const progress = await other.build(asked, { onFailure: (_link, { message }) => failures.push(message) });
  expect(progress).toMatchObject({ total: asked.length, done: asked.length, failed: failures.length });
  // The aborted run generated the others.
  expect(progress.made).toBeGreaterThan(0);
  expect(progress.made).toBeLessThan(asked.length - failures.length);
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.every((message) => message.includes('"photos/cut.jpg"'))).toBe(true);

  const kept = asked[0]!;
  const made = asked.length - failures.length;
  const reported: string[] = [];
  const onRemove = ({ path: file }: { path: string }): void => void reported.push(file);
  const dry = await other.prune({ used: [kept], dryRun: true, onRemove });
  expect([dry.files, reported.length]).toEqual([made - 1, made - 1]);
  await expect(other.prune({ used: [kept] })).resolves.toEqual(dry);
  const left = [];
  for await (const { path: file } of other.files.list()) left.push(file);
  expect(left).toEqual([other.files.toPath(kept)]);
  await other.close();
});

test('previews and outlines are stored across restarts', async () => {
  const result = await images.answer('fixed', photo, { width: 90 });
  const before = [await result.base64(), await result.tracedSVG()];
  await images.close();
  await rm(photo.absolutePath);
  images = open('state');
  const again = await images.answer('fixed', photo, { width: 90 });
  expect([await again.base64(), await again.tracedSVG()]).toEqual(before);
});

test('links carry the expiring signature of the current period, except in the values for filters', async () => {
  const [source] = sources;
  let window = 1;
  const signed = openImages({
    stateDirectory: path.join(pictures.folder, 'signed'),
    findSource: () => source,
    prefix: '/garden',
    signer: { sign: (link) => `${link}?signature=${window}`, currentWindow: () => window },
  });
  try {
    const ask = async () => {
      const image = await signed.answer('fixed', source!, { width: 30 });
      const { src } = await signed.original(source!);
      return [src, image.src, image.srcWebp(), ...image.srcSet.split(/,\s+/).map((text) => text.split(' ')[0])];
    };
    const first = await ask();
    expect(first.every((link) => /^\/garden\/static\/.+\?signature=1$/.test(link ?? ''))).toBe(true);
    expect(await ask()).toEqual(first);
    window = 2;
    expect(await ask()).toEqual(first.map((link) => link?.replace(/1$/, '2')));
    expect(signed.peek('original', source!)).toMatchObject({ src: first[0]?.replace(/\?.*/, '') });
    expect(JSON.stringify(signed.peek('fixed', source!))).not.toContain('signature');
  } finally {
    await signed.close();
  }
});

test('a drawing may take 10 seconds of CPU time by default', () => {
  expect(DRAWING_CPU_MS).toBe(10_000);
});

describe('an animated WEBP', () => {
  const frame = (background: string) => ({ create: { width: 60, height: 40, channels: 3 as const, background } });
  const animation = () => sharp(['#f00', '#0f0', '#00f'].map(frame) as never, { join: { animated: true } });
  const timing = { delay: [100, 250, 400], loop: 3 };

  /** Reads the chunks of a WEBP by the specification of its container. */
  function readChunks(file: Buffer): { name: string; data: Buffer }[] {
    const chunks: { name: string; data: Buffer }[] = [];
    for (let at = 12; at < file.length;) {
      const length = file.readUInt32LE(at + 4);
      chunks.push({ name: file.toString('latin1', at, at + 4), data: file.subarray(at + 8, at + 8 + length) });
      at += 8 + length + (length % 2);
    }
    return chunks;
  }

  async function readFile(src: string): Promise<Buffer> {
    const route = images.findRoute(src.slice('/static'.length));
    await route?.generate();
    return readBytes(path.join(pictures.folder, 'state/public/images', route?.path ?? ''));
  }

  const linkTo = async (source: ImageSource, args: FieldArguments['resize']) =>
    (await images.answer('resize', source, args)).src();

  test.each<[string, FieldArguments['resize']]>([
    ['scaled', { width: 30 }],
    ['cropped', { width: 30, height: 30 }],
    ['with two colours', { width: 30, duotone: { shadow: '#000000', highlight: '#ff0000' } }],
  ])('keeps its frames, their delays and its repetitions in WEBP: %s', async (_, args) => {
    const source = await put('frames.webp', await animation().webp(timing).toBuffer());
    const chunks = readChunks(await readFile(await linkTo(source, args)));
    const frames = chunks.filter(({ name }) => name === 'ANMF');
    expect(frames.map(({ data }) => data.readUIntLE(12, 3))).toEqual(timing.delay);
    expect(chunks.find(({ name }) => name === 'ANIM')?.data.readUInt16LE(4)).toBe(timing.loop);
  });

  test.each<[string, FieldArguments['resize']]>([
    ['turned', { width: 30, rotate: 90 }],
    ['in a format without animations', { width: 30, toFormat: 'PNG' }],
  ])('becomes its first frame: %s', async (_, args) => {
    const source = await put('frames.webp', await animation().webp(timing).toBuffer());
    const file = await readFile(await linkTo(source, args));
    expect((await sharp(file, { animated: true }).metadata()).pages ?? 1).toBe(1);
  });

  test('becomes its first frame if all frames have more pixels than the limit', async () => {
    const source = await put('frames.webp', await animation().webp(timing).toBuffer());
    const limited = open('limited', { maxPixels: 1e6 });
    try {
      for (const [width, pages] of [
        [700, 3],
        [720, 1],
      ] as const) {
        const answer = await limited.answer('resize', source, { width });
        const route = limited.findRoute((await answer.src()).slice('/static'.length));
        await route?.generate();
        const file = await readBytes(path.join(pictures.folder, 'limited/public/images', route?.path ?? ''));
        expect((await sharp(file, { animated: true }).metadata()).pages ?? 1).toBe(pages);
      }
    } finally {
      await limited.close();
    }
  });

  test('has links of its own, and those of a still WEBP are the same as before', async () => {
    const moving = await put('frames.webp', await animation().webp(timing).toBuffer());
    const still = await put('still.webp', await scene(60, 40).webp().toBuffer());
    expect(await linkTo(moving, { width: 30 })).toMatch(/_q50_a1\/frames\.webp$/);
    expect(await linkTo(still, { width: 30 })).toMatch(/_q50\/still\.webp$/);
    expect(await linkTo(moving, { width: 30, toFormat: 'JPG' })).not.toContain('_a1');
  });
});
