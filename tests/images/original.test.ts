import { formatOriginalName, parseOriginalName, toOriginal } from '../../src/images/original.js';

const contentDigest = '0123456789abcdef0123456789abcdef';

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
