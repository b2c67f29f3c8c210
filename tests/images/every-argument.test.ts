import path from 'node:path';
import { openImages, type Images } from '@trellis/images/images';
import type { FieldName } from '@trellis/images/plan/field-results';
import type { ImageSource } from '@trellis/images/source';
import { isObjectType, type GraphQLObjectType } from 'graphql';
import sharp from 'sharp';
import { createImageFolder, scene, type ImageFolder } from '../../packages/images/tests/image-folder.js';
import { baseResolvers } from '../../src/resolvers/fields.js';
import { buildSiteSchema } from '../resolvers/site-schema.js';

const schema = buildSiteSchema();
let pictures: ImageFolder;
let images: Images;
let photo: ImageSource;

beforeAll(async () => {
  pictures = await createImageFolder();
  photo = await pictures.put('huge.jpg', scene(1600, 1200).jpeg());
  images = openImages({
    stateDirectory: path.join(pictures.folder, 'state'),
    findSource: () => photo,
  });
});
afterAll(async () => {
  await images.close();
  await pictures.remove();
});

const typeOf = (name: string): GraphQLObjectType => {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`Expected ${name} to be an object type.`);
  return type;
};

const argumentsOf = (field: string): string[] =>
  (typeOf('ImageProc').getFields()[field]?.args ?? []).map(({ name }) => name).sort();

type Result = Readonly<Record<string, unknown>>;

async function answer(field: FieldName, args: object): Promise<Result> {
  const result = { ...(await images.answer(field, photo, args)) };
  const values = Object.entries(result).map(async ([name, value]) => {
    const plain: unknown = typeof value === 'function' ? await (value as () => unknown)() : value;
    return [name, plain] as const;
  });
  return Object.fromEntries(await Promise.all(values));
}

/** Returns the transform of the first link in a result. */
function recipeOf({ src, srcSet }: Result): object {
  const [, first = ''] = /\/static(\/\S+)/u.exec(String(srcSet ?? src)) ?? [];
  return images.parseLink(first)?.transform ?? {};
}

async function sizeOf(dataUri: unknown): Promise<string> {
  const { format, width, height } = await sharp(Buffer.from(String(dataUri).split(',')[1] ?? '', 'base64')).metadata();
  return `${format} ${width}x${height}`;
}

interface Change {
  readonly args: object;
  /** The expected part of the transform of the first link. */
  readonly recipe?: object;
  /** The expected part of the result. */
  readonly result?: object;
  readonly base64?: string;
}

/** The arguments that all fields share. `frame` is the arguments for a frame of 100 × 50. */
const COMMON = (frame: object): Readonly<Record<string, Change>> => ({
  background: { args: { ...frame, fit: 'CONTAIN', background: 'rgb(0,255,0)' }, recipe: { background: '#00ff00' } },
  cropFocus: { args: { ...frame, cropFocus: 'NORTHEAST' }, recipe: { scaling: 'cover', focus: 'NORTHEAST' } },
  duotone: {
    args: { duotone: { highlight: '#F00E2E', shadow: '192550', opacity: 40 } },
    recipe: { duotone: { highlight: '#f00e2e', shadow: '#192550', opacity: 40 } },
  },
  fit: { args: { ...frame, fit: 'CONTAIN' }, recipe: { scaling: 'contain' } },
  grayscale: { args: { grayscale: true }, recipe: { grayscale: true } },
  jpegProgressive: { args: { jpegProgressive: false }, recipe: { progressive: false } },
  jpegQuality: { args: { jpegQuality: 71, quality: 5 }, recipe: { format: 'jpg', quality: 71 } },
  pngQuality: { args: { pngQuality: 72, toFormat: 'PNG' }, recipe: { format: 'png', quality: 72 } },
  webpQuality: { args: { webpQuality: 73, toFormat: 'WEBP' }, recipe: { format: 'webp', quality: 73 } },
  quality: { args: { quality: 74, toFormat: 'AVIF' }, recipe: { format: 'avif', quality: 74 } },
  pngCompressionSpeed: { args: { pngCompressionSpeed: 7, toFormat: 'PNG' }, recipe: { speed: 7, compressionLevel: 9 } },
  rotate: { args: { rotate: -90 }, recipe: { rotate: 270, orient: false }, result: { aspectRatio: 0.75 } },
  toFormat: { args: { toFormat: 'WEBP' }, recipe: { format: 'webp' } },
  traceSVG: {
    args: { traceSVG: { color: '#123456' } },
    result: { tracedSVG: expect.stringContaining("fill='%23123456'") as string },
  },
  trim: { args: { trim: 12.5 }, recipe: { trim: 12.5 } },
});

const PREVIEW: Readonly<Record<string, Change>> = {
  base64Width: { args: { base64Width: 32 }, base64: 'jpeg 32x24' },
  toFormatBase64: { args: { toFormatBase64: 'PNG' }, base64: 'png 20x15' },
};

const CHANGES: Readonly<Record<FieldName, Readonly<Record<string, Change>>>> = {
  fixed: {
    ...COMMON({ width: 100, height: 50 }),
    ...PREVIEW,
    width: { args: { width: 100 }, recipe: { width: 100, height: 75 }, result: { width: 100, height: 75 } },
    height: { args: { height: 60 }, recipe: { width: 80, height: 60 }, result: { width: 80, height: 60 } },
  },
  fluid: {
    ...COMMON({ maxWidth: 100, maxHeight: 50 }),
    ...PREVIEW,
    maxWidth: { args: { maxWidth: 400 }, recipe: { width: 100 }, result: { presentationWidth: 400 } },
    maxHeight: { args: { maxHeight: 300 }, recipe: { height: 75 }, result: { presentationHeight: 300 } },
    sizes: { args: { sizes: '50vw' }, result: { sizes: '50vw' } },
    srcSetBreakpoints: {
      args: { maxWidth: 300, srcSetBreakpoints: [250, 90, 250] },
      recipe: { width: 90 },
      result: { srcSet: expect.stringMatching(/^\S+ 90w,\n\S+ 250w,\n\S+ 300w,\n\S+ 1600w$/u) as string },
    },
  },
  resize: {
    ...COMMON({ width: 100, height: 50 }),
    width: { args: { width: 2000 }, recipe: { width: 2000, height: 1500 }, result: { width: 2000, height: 1500 } },
    height: { args: { height: 60 }, recipe: { width: 80, height: 60 }, result: { width: 80, height: 60 } },
    base64: {
      args: { base64: true },
      result: { width: 20, height: 15, src: expect.stringMatching(/^data:image\/jpeg;base64,/u) as string },
    },
    pngCompressionLevel: { args: { pngCompressionLevel: 3, toFormat: 'PNG' }, recipe: { compressionLevel: 3 } },
  },
};

describe.each(Object.entries(CHANGES) as [FieldName, Readonly<Record<string, Change>>][])('%s', (field, changes) => {
  test('this test covers every argument of the field', () => {
    expect(Object.keys(changes).sort()).toEqual(argumentsOf(field));
  });

  test.each(Object.entries(changes))('applies the argument %s', async (_argument, { args, recipe, result, base64 }) => {
    const plain = await answer(field, {});
    const changed = await answer(field, args);
    if (recipe) {
      expect(recipeOf(changed)).toMatchObject(recipe);
      expect(recipeOf(plain)).not.toMatchObject(recipe);
    }
    if (result) {
      expect(changed).toMatchObject(result);
      expect(plain).not.toMatchObject(result);
    }
    if (base64 !== undefined) {
      await expect(sizeOf(changed.base64)).resolves.toBe(base64);
      await expect(sizeOf(plain.base64)).resolves.not.toBe(base64);
    }
  });
});

const LINK = String.raw`/static/[0-9a-f]{32}/[\w-]{16}_[\w.-]+/huge\.`;
const link = (extension: string): string => expect.stringMatching(new RegExp(`^${LINK}${extension}$`, 'u')) as string;
const set = (extension: string, ...sizes: readonly string[]): string =>
  expect.stringMatching(
    new RegExp(`^${sizes.map((size) => `${LINK}${extension} ${size}`).join(',\n')}$`, 'u'),
  ) as string;
const preview: unknown = expect.stringMatching(/^data:image\/jpeg;base64,[\w+/=]+$/u);
const drawing = (size: string): unknown =>
  expect.stringMatching(new RegExp(`^data:image/svg\\+xml,.*viewBox='0%200%20${size}'`, 'u'));

/** The results of the image fields without arguments, for a source of 1600 × 1200 pixels. */
const RESULTS: Readonly<Record<string, object>> = {
  fixed: {
    aspectRatio: 4 / 3,
    base64: preview,
    height: 300,
    originalName: 'huge.jpg',
    src: link('jpg'),
    srcSet: set('jpg', '1x', String.raw`1\.5x`, '2x'),
    srcSetWebp: set('webp', '1x', String.raw`1\.5x`, '2x'),
    srcWebp: link('webp'),
    tracedSVG: drawing('400%20300'),
    width: 400,
  },
  fluid: {
    aspectRatio: 4 / 3,
    base64: preview,
    originalImg: link('jpg'),
    originalName: 'huge.jpg',
    presentationHeight: 600,
    presentationWidth: 800,
    sizes: '(max-width: 800px) 100vw, 800px',
    src: link('jpg'),
    srcSet: set('jpg', '200w', '400w', '800w', '1200w', '1600w'),
    srcSetWebp: set('webp', '200w', '400w', '800w', '1200w', '1600w'),
    srcWebp: link('webp'),
    tracedSVG: drawing('400%20300'),
  },
  resize: {
    aspectRatio: 4 / 3,
    height: 300,
    originalName: 'huge.jpg',
    src: link('jpg'),
    tracedSVG: drawing('400%20300'),
    width: 400,
  },
  original: {
    height: 1200,
    src: expect.stringMatching(/^\/static\/huge-[0-9a-f]{32}\.jpg$/u) as string,
    width: 1600,
  },
};

test.each([
  ['fixed', 'ImageProcFixed'],
  ['fluid', 'ImageProcFluid'],
  ['resize', 'ImageProcResize'],
  ['original', 'ImageProcOriginal'],
])('%s returns all members of its type', async (field, type) => {
  const result = field === 'original' ? await images.original(photo) : await answer(field as FieldName, {});
  expect(result).toEqual(RESULTS[field]);
  expect(Object.keys(RESULTS[field] ?? {}).sort()).toEqual(Object.keys(typeOf(type).getFields()).sort());
});

test.each([
  ['resolutions', 'fixed', 'ImageProcResolutions', 'ImageProcFixed'],
  ['sizes', 'fluid', 'ImageProcSizes', 'ImageProcFluid'],
] as const)('the deprecated field %s is an alias of %s', (deprecated, current, deprecatedType, type) => {
  expect(baseResolvers.ImageProc[deprecated]).toBe(baseResolvers.ImageProc[current]);
  expect(argumentsOf(deprecated)).toEqual(argumentsOf(current));
  expect(Object.keys(typeOf(deprecatedType).getFields())).toEqual(Object.keys(typeOf(type).getFields()));
});
