import fc from 'fast-check';
import type { ImageArguments } from '../../src/plan/arguments.js';
import { type FieldName, parseOperations } from '../../src/plan/field-results.js';
import { formatTransformText, parseTransformText } from '../../src/plan/links.js';
import { fitFrame, type Frame } from '../../src/plan/sizes.js';
import {
  assertRenderable,
  formatTransform,
  type OutputFormat,
  outputSize,
  toImageDigest,
  toOperations,
  toTransform,
} from '../../src/plan/transform.js';

const photo = { width: 1600, height: 1200 };

const recipeOf = (args: ImageArguments, frame: Frame = { width: 400 }, format: OutputFormat = 'jpg') =>
  toTransform(fitFrame(photo, frame, args.fit ?? 'COVER'), format, toOperations(args), args);

const digest = (...args: Parameters<typeof recipeOf>): string => toImageDigest(formatTransform(recipeOf(...args)));

interface Alike {
  readonly reason: string;
  readonly one: ImageArguments;
  readonly other: ImageArguments;
  readonly frame?: Frame;
  readonly format?: OutputFormat;
}

test('an image transform contains exactly the members that determine the image', () => {
  expect(recipeOf({})).toEqual({
    format: 'jpg',
    width: 400,
    height: 300,
    scaling: 'fill',
    orient: true,
    quality: 50,
    progressive: true,
  });
});

test.each<Alike>([
  {
    reason: 'null and absent arguments',
    one: {},
    other: { quality: null, trim: null, duotone: null, background: null },
  },
  {
    reason: 'defaults and absent arguments',
    one: {},
    other: { quality: 50, rotate: 0, trim: 0, grayscale: false, fit: 'COVER' },
  },
  {
    reason: 'the general quality and that of the format',
    one: { quality: 80 },
    other: { jpegQuality: 80, quality: 10 },
  },
  { reason: 'qualities of other formats', one: {}, other: { webpQuality: 3, pngQuality: 4 } },
  { reason: 'encoding arguments of other formats', one: {}, other: { pngCompressionLevel: 1, pngCompressionSpeed: 9 } },
  { reason: 'jpegProgressive for other formats', one: {}, other: { jpegProgressive: false }, format: 'webp' },
  { reason: 'cropFocus without cropping', one: {}, other: { cropFocus: 'NORTH' } },
  { reason: 'a background without padding', one: {}, other: { background: 'red' } },
  { reason: 'different fits with the same proportions', one: {}, other: { fit: 'INSIDE' } },
  {
    reason: 'both sides with the proportions of the source',
    one: {},
    other: { fit: 'CONTAIN' },
    frame: { width: 400, height: 300 },
  },
  {
    reason: 'two notations of a colour',
    one: { fit: 'CONTAIN', background: 'red' },
    other: { fit: 'CONTAIN', background: ' RGB(255, 0, 0)' },
    frame: { width: 400, height: 400 },
  },
  {
    reason: 'fully transparent colours',
    one: { fit: 'CONTAIN', background: 'transparent' },
    other: { fit: 'CONTAIN', background: 'rgba(1,2,3,0)' },
    frame: { width: 400, height: 400 },
  },
  {
    reason: 'two notations of a gradient',
    one: { duotone: { highlight: '#F00E2E', shadow: '192550' } },
    other: { duotone: { highlight: 'f00e2e', shadow: '#192550', opacity: 0 } },
  },
  { reason: 'equivalent rotations', one: { rotate: 450 }, other: { rotate: -270 } },
])('an image transform is the same for $reason', ({ one, other, frame, format }) => {
  expect(digest(one, frame, format)).toBe(digest(other, frame, format));
});

test.each<[string, ImageArguments]>([
  ['quality', { quality: 51 }],
  ['jpegProgressive', { jpegProgressive: false }],
  ['rotate', { rotate: 90 }],
  ['rotate by 360 degrees, which ignores the EXIF orientation', { rotate: 360 }],
  ['trim', { trim: 0.5 }],
  ['grayscale', { grayscale: true }],
  ['duotone', { duotone: { highlight: '#ffffff', shadow: '#000000' } }],
  ['the highlight', { duotone: { highlight: '#fffffe', shadow: '#000000' } }],
  ['the opacity', { duotone: { highlight: '#ffffff', shadow: '#000000', opacity: 50 } }],
])('an image transform depends on %s', (_reason, args) => {
  const known = [{}, { duotone: { highlight: '#ffffff', shadow: '#000000' } }].filter(
    (one) => JSON.stringify(one) !== JSON.stringify(args),
  );
  for (const one of known) expect(digest(args)).not.toBe(digest(one));
});

test.each<[string, ImageArguments, ImageArguments]>([
  ['cropFocus', { cropFocus: 'NORTH' }, { cropFocus: 'SOUTH' }],
  ['fit', { fit: 'COVER' }, { fit: 'FILL' }],
  ['background', { fit: 'CONTAIN', background: 'red' }, { fit: 'CONTAIN', background: 'blue' }],
])('an image transform depends on %s if the image is cropped or padded', (_reason, one, other) => {
  const frame = { width: 400, height: 400 };
  expect(digest(one, frame)).not.toBe(digest(other, frame));
});

test('formatTransformText and parseTransformText: round-trip for all arguments and formats', () => {
  fc.assert(
    fc.property(
      argumentsOf(),
      fc.constantFrom<OutputFormat>('jpg', 'png', 'webp', 'avif', 'gif', 'tiff'),
      (args, format) => {
        const recipe = recipeOf(args, { width: 300, height: 500 }, format);
        const text = formatTransformText(recipe);
        expect(text).toMatch(/^[\w.-]{1,200}$/u);
        expect(parseTransformText(text, format)).toEqual(recipe);
      },
    ),
  );
});

const argumentsOf = () =>
  fc.record(
    {
      rotate: fc.integer(),
      trim: fc.float({ min: 0, max: 255, noNaN: true }),
      grayscale: fc.boolean(),
      quality: fc.integer({ min: 1, max: 100 }),
      fit: fc.constantFrom('COVER' as const, 'CONTAIN' as const, 'INSIDE' as const),
      background: fc.constantFrom('red', '#12345678', 'hsl(120, 50%, 50%)'),
      duotone: fc.constant({ highlight: '#123456', shadow: '#abcdef', opacity: 40 }),
    },
    { requiredKeys: [] },
  );

test('toImageDigest: the digest of a transform never changes, as derived files outlive the server', () => {
  expect(digest({})).toBe('e6e8e82d5ced404fb9b3bdf4');
});

test.each<[string, FieldName, object]>([
  ['width', 'fixed', { width: 0 }],
  ['width', 'fixed', { width: -1 }],
  ['width', 'resize', { width: 1e9 }],
  ['height', 'resize', { height: 0 }],
  ['maxWidth', 'fluid', { maxWidth: 0 }],
  ['maxHeight', 'fluid', { maxHeight: 1e9 }],
  ['srcSetBreakpoints', 'fluid', { srcSetBreakpoints: [100, 0] }],
  ['the number of srcSetBreakpoints', 'fluid', { srcSetBreakpoints: Array(65).fill(1) }],
  ['the length of sizes', 'fluid', { sizes: 'x'.repeat(2001) }],
  ['quality', 'fixed', { quality: 101 }],
  ['quality', 'fixed', { quality: 0 }],
  ['jpegQuality', 'fixed', { jpegQuality: -1 }],
  ['webpQuality', 'fixed', { webpQuality: 500 }],
  ['pngQuality', 'fixed', { pngQuality: 500 }],
  ['pngCompressionLevel', 'resize', { pngCompressionLevel: 99 }],
  ['pngCompressionSpeed', 'fixed', { pngCompressionSpeed: 0 }],
  ['base64Width', 'fluid', { base64Width: 100_000 }],
  ['trim', 'fixed', { trim: -5 }],
  ['trim', 'fixed', { trim: 256 }],
  ['background', 'fixed', { background: 'no colour' }],
  ['background', 'fixed', { background: 'x'.repeat(1e6) }],
  ['duotone.highlight', 'fixed', { duotone: { highlight: 'red', shadow: '#000000' } }],
  ['duotone.shadow', 'fixed', { duotone: { highlight: '#000000', shadow: '#000' } }],
  ['duotone.opacity', 'fixed', { duotone: { highlight: '#000000', shadow: '#000000', opacity: 101 } }],
  ['traceSVG.threshold', 'fixed', { traceSVG: { threshold: 256 } }],
  ['traceSVG.turdSize', 'fixed', { traceSVG: { turdSize: -1 } }],
  ['traceSVG.alphaMax', 'fixed', { traceSVG: { alphaMax: 2 } }],
  ['traceSVG.optTolerance', 'fixed', { traceSVG: { optTolerance: Number.POSITIVE_INFINITY } }],
  ['traceSVG.color', 'fixed', { traceSVG: { color: 'red"/><script>' } }],
  ['traceSVG.background', 'fixed', { traceSVG: { background: 'url(#x)' } }],
])('parseOperations: rejects an invalid %s of %s: %j', (argument, field, args) => {
  expect(() => parseOperations(field, args)).toThrow(
    expect.objectContaining({ code: 'invalid_input', field: argument }) as Error,
  );
});

test.each<[string, Parameters<typeof assertRenderable>[0]]>([
  ['many more pixels than the source', { format: 'png', width: 10_000, height: 5_000 }],
  ['a side that exceeds the limit of WEBP', { format: 'webp', width: 16_384, height: 10 }],
  [
    'a side that exceeds the limit of JPEG after rotation',
    { format: 'jpg', width: 60_000, height: 60_000, rotate: 45 },
  ],
])('assertRenderable: rejects %s', (_reason, recipe) => {
  expect(() => assertRenderable(recipe, photo)).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
});

test('assertRenderable: accepts as many pixels as the source has', () => {
  const large = { width: 13_000, height: 10_000 };
  expect(() => assertRenderable({ format: 'jpg', ...large }, large)).not.toThrow();
});

test('outputSize: returns the size after rotation', () => {
  expect(outputSize({ width: 100, height: 75, rotate: 90 })).toEqual({ width: 75, height: 100 });
});
