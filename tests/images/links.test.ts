import fc from 'fast-check';
import { findOutputFormat } from '../../src/images/formats.js';
import { createLinks } from '../../src/images/links.js';
import type { Recipe } from '../../src/images/recipe.js';

const links = createLinks(Buffer.alloc(32, 1));
const contentDigest = '0123456789abcdef0123456789abcdef';
const recipe: Recipe = { format: 'jpg', width: 800, height: 600, scaling: 'fill', orient: true, quality: 50 };
const path = links.format({ contentDigest, recipe, name: 'a', extension: 'jpg' });

describe('image links', () => {
  test('hold the digest, a signature, the recipe and the name, percent-encoded', () => {
    expect(links.format({ contentDigest, recipe, name: 'größe 1', extension: 'jpg' })).toMatch(
      new RegExp(`^/${contentDigest}/[\\w-]{16}_v1_w800_h600_q50/gr%C3%B6%C3%9Fe%201\\.jpg$`, 'u'),
    );
  });

  test('are read back as they were written', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.constantFrom('jpg', 'png', 'webp', 'avif', 'gif', 'tif', 'tiff'),
        (name, extension) => {
          const image = { contentDigest, recipe: { ...recipe, format: findOutputFormat(extension)! }, name, extension };
          expect(links.parse(links.format(image))).toEqual(image);
        },
      ),
    );
  });

  test('keep their image when the name is changed, which decides nothing', () => {
    expect(links.parse(path.replace('/a.', '/b.'))).toMatchObject({ contentDigest, recipe });
  });

  test.each([
    ['another size', path.replace('w800', 'w801')],
    ['another source', path.replace('0123', '0124')],
    ['another format', path.replace('.jpg', '.png')],
    [
      'another signature',
      path.replace(
        /\/([\w-])([\w-]{15})_/u,
        (_all, first: string, rest) => `/${first === 'A' ? 'B' : 'A'}${String(rest)}_`,
      ),
    ],
    [
      'a different key',
      createLinks(Buffer.alloc(32, 2)).format({ contentDigest, recipe, name: 'a', extension: 'jpg' }),
    ],
    ['a format that nothing is written in', path.replace('.jpg', '.svg')],
    ['a spelling that nothing is written with', path.replace('.jpg', '.jpeg')],
    ['a property of every object', path.replace('.jpg', '.constructor')],
    ['no signature', `/${contentDigest}/v1_w800_h600_q50/a.jpg`],
    ['a digest in capitals', path.replace('abcdef', 'ABCDEF')],
    ['a broken escape', path.replace('/a.', '/%E0%A4%A.')],
    ['a path further down', path.replace('/a.', '/../a.')],
    ['no name', path.replace('/a.', '/.')],
    ['a public file', `/${contentDigest}/a.jpg`],
  ])('are refused with %s', (_reason, changed) => {
    expect(changed).not.toBe(path);
    expect(links.parse(changed)).toBeUndefined();
  });
});
