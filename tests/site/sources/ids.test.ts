import { idsOf } from '../../../src/site/sources/ids.js';

test('gives the ids of the original', () => {
  // uuid v5 of the path in (uuid v5 of the plugin in 638f7a53-c567-4eca-8fc1-b23efb1cfb2b), as Python's uuid module makes them.
  expect(idsOf('gatsby-source-filesystem')('/site/content/ä 日.md')).toBe('430688d2-0778-5466-853d-fdab921bd948');
});

test.each([
  ['one that nearly fills the buffer', '日'.repeat(5456), '8454bda9-8421-50d0-a3f8-b7e4c8c6ce19'],
  ['one that has a buffer of its own', '日'.repeat(5457), 'b6ea7fbd-132c-54c2-b727-87c0c8efb1db'],
  ['one that is longer by far', 'a'.repeat(100_000), '6f98a489-f3cd-5cd8-a996-3c21ffcfcfee'],
])('gives the id of a long text, and of a short one after it: %s', (_, text, id) => {
  const ids = idsOf('gatsby-source-filesystem');
  expect(ids(text)).toBe(id);
  expect(ids('/a')).toBe('6451e854-9492-5aa9-8719-2d0bb14040b2');
});

test('gives other ids for another text or another plugin', () => {
  const ids = idsOf('gatsby-source-filesystem');
  expect(new Set([ids('/a'), ids('/b'), idsOf('gatsby-transformer-sharp')('/a')]).size).toBe(3);
  expect(ids('/a')).toBe(idsOf('gatsby-source-filesystem')('/a'));
});
