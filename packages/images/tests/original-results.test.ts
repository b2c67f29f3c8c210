import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { openImages, type Images } from '../src/images.js';
import type { FieldName } from '../src/plan/field-results.js';
import type { ImageSource } from '../src/source.js';
import { STORED_FILES } from './content.js';
import { createImageFolder, type ImageFolder } from './image-folder.js';

/** A result recorded from the original server, with digests replaced by placeholders, and a summary of its images. */
interface StoredAnswer {
  readonly name: string;
  readonly file: string;
  readonly field: FieldName | 'original' | 'resolutions';
  readonly args: object;
  readonly want: Readonly<Record<string, unknown>>;
  /** Member → format, size and the colours of a 4 × 4 grid in hexadecimal digits. */
  readonly pictures: Readonly<Record<string, string>>;
}

const stored = readFileSync(new URL('fixtures/answers.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as StoredAnswer);

/** Intended differences from the original, which other tests cover. */
const CHANGED: Readonly<Record<string, string>> = {
  'resize-base64-width': 'resize with base64 honours its sides',
  'format-webp-lossy-webp, fluid': 'srcWebp of a .webp is null for fluid too',
};

let pictures: ImageFolder;
let images: Images;
const sources = new Map<string, ImageSource>();

beforeAll(async () => {
  pictures = await createImageFolder();
  for (const [file, make] of Object.entries(STORED_FILES)) sources.set(file, await pictures.put(file, make()));
  images = openImages({
    stateDirectory: pictures.folder,
    findSource: (digest) => [...sources.values()].find(({ contentDigest }) => contentDigest === digest),
  });
});
afterAll(async () => {
  await images.close();
  await pictures.remove();
});

const cases = stored
  .filter(({ name }) => !Object.hasOwn(CHANGED, name))
  .map((answer) => [answer.name, answer] as const);

test.each(cases)(
  'image fields return the same values as the original server: %s',
  async (_name, { file, field, args, want }) => {
    const result = await ask(file, field, args);
    const got = await Promise.all(Object.keys(want).map(async (key) => [key, await describe(result[key])]));
    expect(Object.fromEntries(got)).toEqual(want);
  },
);

test.each(cases.filter(([, { pictures: all }]) => Object.keys(all).length > 0))(
  'derived images look like those of the original server: %s',
  async (_name, { file, field, args, pictures: wanted }) => {
    const result = await ask(file, field, args);
    for (const [key, want] of Object.entries(wanted)) {
      const [, name = '', index = '0'] = /^(\w+)(?:\[(\d+)\])?$/u.exec(key) ?? [];
      const [size, grid] = await look(String(await valueOf(result[name])).split(',\n')[Number(index)] ?? '', file);
      expect(want).toContain(size);
      expect(difference(grid, want.slice(-grid.length))).toBeLessThan(12);
    }
  },
);

async function ask(file: string, field: StoredAnswer['field'], args: object): Promise<Record<string, unknown>> {
  const source = sources.get(file)!;
  if (field === 'original') return { ...(await images.original(source)) };
  const name = field === 'resolutions' ? 'fixed' : field;
  return { ...(await images.answer(name, source, args)) };
}

const valueOf = (value: unknown): unknown => (typeof value === 'function' ? (value as () => unknown)() : value);

/** Replaces digests and encoded images by placeholders, as in the stored results. */
async function describe(field: unknown): Promise<unknown> {
  const value = await valueOf(field);
  if (typeof value !== 'string') return value;
  const [, media, base64] = /^data:(image\/\w+);base64,(.*)$/u.exec(value) ?? [];
  if (base64 !== undefined) {
    const { format, width, height } = await sharp(Buffer.from(base64, 'base64')).metadata();
    return `<data ${media} ${format} ${width}x${height}>`;
  }
  if (value.startsWith('data:image/svg+xml,')) return describeDrawing(value);
  return value
    .replace(/\/[0-9a-f]{32}\/[\w-]{16}_[\w.-]+\//gu, '/<digest>/<recipe>/')
    .replace(/^\/static\/(.+)-[0-9a-f]{32}/u, (_all, name: string) => `/static/${decodeURIComponent(name)}-<digest>`);
}

function describeDrawing(uri: string): string {
  const svg = decodeURIComponent(uri.slice('data:image/svg+xml,'.length));
  const at = (name: string): string => new RegExp(`<svg[^>]*\\b${name}='([^']*)`, 'u').exec(svg)?.[1] ?? '';
  const fills = [...svg.matchAll(/fill='([^']*)/gu)].map(([, fill]) => fill).join(' ');
  return `<svg ${at('width')}x${at('height')} viewBox ${at('viewBox')} ${at('preserveAspectRatio')} fills ${fills} spaces ${uri.includes(' ')}>`;
}

/** Returns the format, size and colour grid of the image behind a link. */
async function look(candidate: string, file: string): Promise<[string, string]> {
  const link = images.parseLink((candidate.split(' ')[0] ?? '').slice('/static'.length));
  if (link) await images.generateFile(link);
  const made = link ? `${pictures.folder}/public/images/${images.files.toPath(link)}` : sources.get(file)!.absolutePath;
  const { format, width, height } = await sharp(made).metadata();
  const grid = await sharp(made)
    .toColourspace('srgb')
    .flatten({ background: '#808080' })
    .removeAlpha()
    .resize(4, 4, { fit: 'fill', kernel: 'cubic' })
    .raw()
    .toBuffer();
  return [`${format} ${width}x${height} `, grid.toString('hex')];
}

/** Returns the mean difference of the colours of two grids. */
function difference(one: string, other: string): number {
  const [a, b] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
}
