import { createIdGenerator } from '../../../src/site/sources/ids.js';

test('idsOf: returns the same ids as Gatsby', () => {
  // UUID v5 of the path in (UUID v5 of the plugin in 638f7a53-c567-4eca-8fc1-b23efb1cfb2b), computed by Python's uuid.
  expect(createIdGenerator('gatsby-source-filesystem')('/site/content/ä 日.md')).toBe(
    '430688d2-0778-5466-853d-fdab921bd948',
  );
});

test.each([
  ['a text that nearly fills the buffer', '日'.repeat(5456), '8454bda9-8421-50d0-a3f8-b7e4c8c6ce19'],
  ['a text with a buffer of its own', '日'.repeat(5457), 'b6ea7fbd-132c-54c2-b727-87c0c8efb1db'],
  ['a much longer text', 'a'.repeat(100_000), '6f98a489-f3cd-5cd8-a996-3c21ffcfcfee'],
])('idsOf: returns the id of a long text and of a following short one: %s', (_, text, id) => {
  const ids = createIdGenerator('gatsby-source-filesystem');
  expect(ids(text)).toBe(id);
  expect(ids('/a')).toBe('6451e854-9492-5aa9-8719-2d0bb14040b2');
});

test('idsOf: ids differ by text and plugin', () => {
  const ids = createIdGenerator('gatsby-source-filesystem');
  expect(new Set([ids('/a'), ids('/b'), createIdGenerator('gatsby-transformer-sharp')('/a')]).size).toBe(3);
  expect(ids('/a')).toBe(createIdGenerator('gatsby-source-filesystem')('/a'));
});
