import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Images, openImages } from '@trellis/images/images';
import type { TraceArguments } from '@trellis/images/plan/arguments';
import type { FieldArguments } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import { toImageFolder } from '@trellis/images/store/files';
import sharp, { type OverlayOptions } from 'sharp';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const CELL = { width: 220, height: 190 };
const COLUMNS = 6;
const PICTURES = ['garden-at-dawn.jpg', 'sunflower.jpg', 'tomato.png'];

const square = { width: 150, height: 150 };

/** The arguments of each cell, by the label below it. */
const SHOWN: Readonly<Record<string, FieldArguments['resize']>> = {
  'width 200': { width: 200 },
  'cover, attention': square,
  'cover, entropy': { ...square, cropFocus: 'ENTROPY' },
  ...Object.fromEntries(
    (['CENTER', 'NORTH', 'NORTHEAST', 'EAST', 'SOUTHEAST', 'SOUTH', 'SOUTHWEST', 'WEST', 'NORTHWEST'] as const).map(
      (cropFocus) => [`cover, ${cropFocus.toLowerCase()}`, { ...square, cropFocus }],
    ),
  ),
  'contain, #c8d8a8': { ...square, fit: 'CONTAIN', background: '#c8d8a8' },
  fill: { ...square, fit: 'FILL' },
  inside: { ...square, fit: 'INSIDE' },
  outside: { width: 100, height: 100, fit: 'OUTSIDE' },
  'height 90': { height: 90 },
  grayscale: { ...square, grayscale: true },
  duotone: { ...square, duotone: { highlight: '#f7e0a3', shadow: '#1c3d2e' } },
  'duotone, 50 %': { ...square, duotone: { highlight: '#f7e0a3', shadow: '#1c3d2e', opacity: 50 } },
  'rotate 90': { ...square, rotate: 90 },
  'rotate 180': { ...square, rotate: 180 },
  'rotate 270': { ...square, rotate: 270 },
  'rotate 30': { width: 110, height: 110, rotate: 30 },
  'trim 40': { height: 150, trim: 40 },
  'jpg, quality 5': { ...square, toFormat: 'JPG', quality: 5 },
  'webp, quality 5': { ...square, toFormat: 'WEBP', quality: 5 },
  'png, quality 5': { ...square, toFormat: 'PNG', quality: 5 },
  'avif, quality 30': { ...square, toFormat: 'AVIF', quality: 30 },
};

/** The arguments of traced outlines, by the label below each. */
const TRACED: Readonly<Record<string, TraceArguments>> = {
  tracedSVG: {},
  'threshold 90, colours': { threshold: 90, color: '#1c3d2e', background: '#f7e0a3', turdSize: 5 },
  'blackOnWhite false': { blackOnWhite: false },
  'alphaMax 0': { alphaMax: 0 },
  'optTolerance 5': { optTolerance: 5 },
  'optCurve false': { optCurve: false },
};

await main();

async function main(): Promise<void> {
  const state = await mkdtemp(path.join(tmpdir(), 'trellis-docs-'));
  const sources = await Promise.all(PICTURES.map(readSource));
  const images = openImages({
    stateDirectory: state,
    findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
  });
  try {
    for (const source of sources) await writeSheet(source, images, toImageFolder(state));
  } finally {
    await images.close();
    await rm(state, { recursive: true });
  }
}

async function readSource(base: string): Promise<ImageSource> {
  const absolutePath = path.resolve('examples/site/images', base);
  const [bytes, { size, mtimeMs }] = await Promise.all([readFile(absolutePath), stat(absolutePath)]);
  const { name, ext } = path.parse(base);
  const contentDigest = createHash('md5').update(bytes).digest('hex');
  return { absolutePath, relativePath: `images/${base}`, base, name, ext, contentDigest, size, mtimeMs };
}

/** Creates one image with a cell for each transform of the source image. */
async function writeSheet(source: ImageSource, images: Images, folder: string): Promise<void> {
  const cells: [string, Buffer][] = [];
  for (const [name, args] of Object.entries(SHOWN)) {
    const link = await (await images.answer('resize', source, args)).src();
    const route = images.findRoute(link.slice('/static'.length));
    await route?.generate();
    cells.push([name, await readFile(path.join(folder, route?.path ?? ''))]);
  }
  const fixed = await images.answer('fixed', source, square);
  cells.push(['base64, enlarged', await enlarge(await fixed.base64())]);
  for (const [name, traceSVG] of Object.entries(TRACED)) {
    const drawing = await (await images.answer('fixed', source, { ...square, traceSVG })).tracedSVG();
    cells.push([name, Buffer.from(decodeURIComponent(drawing.slice(drawing.indexOf(',') + 1)))]);
  }
  await writeFile(`docs/images/${source.name}.webp`, await compose(cells));
}

async function enlarge(dataUri: string): Promise<Buffer> {
  const tiny = Buffer.from(dataUri.slice(dataUri.indexOf(',') + 1), 'base64');
  return sharp(tiny)
    .resize({ ...square, kernel: 'nearest' })
    .png()
    .toBuffer();
}

async function compose(cells: readonly (readonly [string, Buffer])[]): Promise<Buffer> {
  const overlays = await Promise.all(cells.flatMap(([name, bytes], index) => toCell(name, bytes, index)));
  const rows = Math.ceil(cells.length / COLUMNS);
  const sheet = { width: COLUMNS * CELL.width, height: rows * CELL.height, channels: 3 as const, background: '#fff' };
  return sharp({ create: sheet }).composite(overlays).webp({ quality: 80 }).toBuffer();
}

function toCell(name: string, bytes: Buffer, index: number): Promise<OverlayOptions>[] {
  const left = (index % COLUMNS) * CELL.width;
  const top = Math.floor(index / COLUMNS) * CELL.height;
  return [place(bytes, { left, top: top + 4 }), place(caption(name), { left, top: top + CELL.height - 26 })];
}

async function place(input: Buffer, { left, top }: { left: number; top: number }): Promise<OverlayOptions> {
  const fitting = {
    width: CELL.width - 10,
    height: CELL.height - 36,
    fit: 'inside' as const,
    withoutEnlargement: true,
  };
  const { data, info } = await sharp(input).resize(fitting).png().toBuffer({ resolveWithObject: true });
  return { input: data, left: left + Math.round((CELL.width - info.width) / 2), top };
}

function caption(text: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CELL.width - 10}" height="20"><text x="50%" y="14"
      text-anchor="middle" font-family="sans-serif" font-size="13" fill="#333">${text}</text></svg>`,
  );
}
