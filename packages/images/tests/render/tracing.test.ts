import { readFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { openImages, type Images } from '../../src/images.js';
import type { TraceArguments } from '../../src/plan/arguments.js';
import type { ImageSource } from '../../src/source.js';
import { STORED_FILES } from '../content.js';
import { createImageFolder, type ImageFolder } from '../image-folder.js';

/** Files whose pixels are the same on every machine, as they are traced in their own size. */
const FILES = { 'grey.png': 'images/png/grey.png', 'photo.png': 'images/photos/mid.jpg' } as const;

let pictures: ImageFolder;
let images: Images;
const sources = new Map<string, ImageSource>();

beforeAll(async () => {
  pictures = await createImageFolder();
  for (const [name, stored] of Object.entries(FILES)) {
    sources.set(name, await pictures.put(name, STORED_FILES[stored]!().png()));
  }
  images = openImages({
    stateDirectory: path.join(pictures.folder, 'state'),
    findSource: (digest) => [...sources.values()].find(({ contentDigest }) => contentDigest === digest),
  });
});
afterAll(async () => {
  await images.close();
  await pictures.remove();
});

async function trace(file: string, traceSVG: TraceArguments): Promise<string> {
  const source = sources.get(file)!;
  const { width } = await sharp(source.absolutePath).metadata();
  const { tracedSVG } = await images.answer('resize', source, { width, traceSVG });
  return decodeURIComponent((await tracedSVG()).slice('data:image/svg+xml,'.length));
}

/** Returns for each pixel whether its luminance is below a threshold. */
async function darkPixels(file: string, threshold: number): Promise<boolean[]> {
  const { data } = await sharp(sources.get(file)!.absolutePath)
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return Array.from({ length: data.length / 3 }, (_none, at) => {
    const [red = 0, green = 0, blue = 0] = data.subarray(at * 3, at * 3 + 3);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < threshold;
  });
}

/** Returns for each pixel whether a black drawing on white covers it. */
async function drawnPixels(svg: string): Promise<boolean[]> {
  const raw = await sharp(Buffer.from(svg)).flatten({ background: '#fff' }).toColourspace('b-w').raw().toBuffer();
  return [...raw].map((value) => value < 128);
}

test.each<[string, number, TraceArguments]>([
  ['grey.png', 100, {}],
  ['grey.png', 140, {}],
  ['grey.png', 140, { alphaMax: 0, optCurve: false }],
  ['photo.png', 110, {}],
  ['photo.png', 110, { turnPolicy: 'TURNPOLICY_BLACK' }],
  ['photo.png', 150, { optTolerance: 1 }],
])('tracedSVG: covers the pixels of %s that are darker than %i: %j', async (file, threshold, args) => {
  const svg = await trace(file, { turdSize: 0, color: 'black', threshold, ...args });
  const [drawn, dark] = [await drawnPixels(svg), await darkPixels(file, threshold)];
  expect(drawn).toHaveLength(dark.length);
  const share = dark.filter(Boolean).length / dark.length;
  // Both dark and light areas must be substantial.
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.9);
  const wrong = drawn.filter((value, at) => value !== dark[at]).length / dark.length;
  // Smooth outlines with integer coordinates cut corners, which is a few percent of such a small image.
  expect(wrong).toBeLessThan(0.03);
});

interface StoredDrawing {
  readonly file: string;
  readonly args: TraceArguments;
  readonly svg: string;
}

const stored = JSON.parse(readFileSync(new URL('traced.json', import.meta.url), 'utf8')) as StoredDrawing[];

test.each(stored)('tracedSVG: $file with $args gives the recorded drawing', async ({ file, args, svg }) => {
  await expect(trace(file, args)).resolves.toBe(svg);
});
