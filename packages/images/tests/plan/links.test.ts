import fc from 'fast-check';
import { createLinks, formatOriginalName, parseOriginalName, toOriginal } from '../../src/plan/links.js';
import { findOutputFormat, type ImageTransform } from '../../src/plan/transform.js';

const links = createLinks(Buffer.alloc(32, 1));
const contentDigest = '0123456789abcdef0123456789abcdef';
const recipe: ImageTransform = { format: 'jpg', width: 800, height: 600, scaling: 'fill', orient: true, quality: 50 };
const path = links.format({ contentDigest, transform: recipe, name: 'a', extension: 'jpg' });

describe('image links', () => {
  test('contain the digest, a signature, the transform and the percent-encoded name', () => {
    expect(links.format({ contentDigest, transform: recipe, name: 'größe 1', extension: 'jpg' })).toMatch(
      new RegExp(`^/${contentDigest}/[\\w-]{16}_v1_w800_h600_q50/gr%C3%B6%C3%9Fe%201\\.jpg$`, 'u'),
    );
  });

  test('round-trip through format and parse', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.constantFrom('jpg', 'png', 'webp', 'avif', 'gif', 'tif', 'tiff'),
        (name, extension) => {
          const image = {
            contentDigest,
            transform: { ...recipe, format: findOutputFormat(extension)! },
            name,
            extension,
          };
          expect(links.parse(links.format(image))).toEqual(image);
        },
      ),
    );
  });

  test('lead to the same image when the name is changed, as it is not signed', () => {
    expect(links.parse(path.replace('/a.', '/b.'))).toMatchObject({ contentDigest, transform: recipe });
  });

  test.each([
    ['a changed size', path.replace('w800', 'w801')],
    ['a changed source', path.replace('0123', '0124')],
    ['a changed format', path.replace('.jpg', '.png')],
    [
      'a changed signature',
      path.replace(
        /\/([\w-])([\w-]{15})_/u,
        (_all, first: string, rest) => `/${first === 'A' ? 'B' : 'A'}${String(rest)}_`,
      ),
    ],
    [
      'a different key',
      createLinks(Buffer.alloc(32, 2)).format({ contentDigest, transform: recipe, name: 'a', extension: 'jpg' }),
    ],
    ['a format without an encoder', path.replace('.jpg', '.svg')],
    ['an extension that is never generated', path.replace('.jpg', '.jpeg')],
    ['the name of an inherited property as extension', path.replace('.jpg', '.constructor')],
    ['no signature', `/${contentDigest}/v1_w800_h600_q50/a.jpg`],
    ['a digest in capitals', path.replace('abcdef', 'ABCDEF')],
    ['a broken escape', path.replace('/a.', '/%E0%A4%A.')],
    ['an additional path segment', path.replace('/a.', '/../a.')],
    ['an empty name', path.replace('/a.', '/.')],
    ['the path of a public copy', `/${contentDigest}/a.jpg`],
  ])('are rejected with %s', (_reason, changed) => {
    expect(changed).not.toBe(path);
    expect(links.parse(changed)).toBeUndefined();
  });
});

test('toOriginal: the link contains the name and digest of the source image', () => {
  const source = { name: 'größe 1', ext: '.JPG', contentDigest } as Parameters<typeof toOriginal>[0];
  const metadata = { width: 360, height: 240 } as Parameters<typeof toOriginal>[1];
  expect(toOriginal(source, metadata, (path) => `/garden/static${path}`)).toEqual({
    width: 360,
    height: 240,
    src: `/garden/static/gr%C3%B6%C3%9Fe%201-${contentDigest}.JPG`,
  });
});

test.each([
  ['a plain name', 'huge', '.jpg'],
  ['characters of URLs', 'a#b&c?%41', '.jpg'],
  ['a dash and another digest in the name', `x-${contentDigest}`, '.png'],
  ['dots in the name', 'a.b.c', '.webp'],
  ['an empty extension', 'trailing', '.'],
  ['no extension', 'plain', ''],
])('formatOriginalName and parseOriginalName: round-trip with %s', (_reason, name, ext) => {
  const parts = { name, ext, contentDigest };
  expect(parseOriginalName(formatOriginalName(parts))).toEqual(parts);
});

test.each([
  ['huge.jpg'],
  [`${contentDigest}.jpg`],
  [`-${contentDigest}.jpg`],
  ['%E0%A4%A'],
  [`a-${contentDigest}.j/g`],
])('parseOriginalName: returns undefined for %s', (segment) => {
  expect(parseOriginalName(segment)).toBeUndefined();
});
