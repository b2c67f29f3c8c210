import fc from 'fast-check';
import { formatLink, parseLink } from '../../src/images/links.js';

const contentDigest = '0123456789abcdef0123456789abcdef';
const recipeDigest = '0123456789abcdef01234567';

test('writes the name for people, percent-encoded', () => {
  expect(formatLink({ contentDigest, recipeDigest, name: 'größe 1', extension: 'webp' })).toBe(
    `/${contentDigest}/${recipeDigest}/gr%C3%B6%C3%9Fe%201.webp`,
  );
});

test('reads back what it wrote', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom('jpg', 'png', 'webp', 'avif', 'gif', 'tif', 'tiff'),
      (name, extension) => {
        const link = { contentDigest, recipeDigest, name, extension };
        const format = extension === 'tif' ? 'tiff' : extension;
        expect(parseLink(formatLink(link))).toEqual({ ...link, format });
      },
    ),
  );
});

test.each([
  ['a format that nothing is written in', `/${contentDigest}/${recipeDigest}/a.svg`],
  ['a spelling that nothing is written with', `/${contentDigest}/${recipeDigest}/a.jpeg`],
  ['a property of every object', `/${contentDigest}/${recipeDigest}/a.constructor`],
  ['a short digest', `/${contentDigest}/0123456789abcdef/a.jpg`],
  ['a digest in capitals', `/${contentDigest.toUpperCase()}/${recipeDigest}/a.jpg`],
  ['a broken escape', `/${contentDigest}/${recipeDigest}/%E0%A4%A.jpg`],
  ['a path further down', `/${contentDigest}/${recipeDigest}/../a.jpg`],
  ['no name', `/${contentDigest}/${recipeDigest}/.jpg`],
  ['a published file', `/${contentDigest}/a.jpg`],
])('finds no link in %s', (_reason, path) => {
  expect(parseLink(path)).toBeUndefined();
});
