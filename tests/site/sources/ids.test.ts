import { idsOf } from '../../../src/site/sources/ids.js';

test('gives the ids of the original', () => {
  // uuid v5 of the path in (uuid v5 of the plugin in 638f7a53-c567-4eca-8fc1-b23efb1cfb2b), as Python's uuid module makes them.
  expect(idsOf('gatsby-source-filesystem')('/site/content/ä 日.md')).toBe('430688d2-0778-5466-853d-fdab921bd948');
});

test('gives other ids for another text or another plugin', () => {
  const ids = idsOf('gatsby-source-filesystem');
  expect(new Set([ids('/a'), ids('/b'), idsOf('gatsby-transformer-sharp')('/a')]).size).toBe(3);
  expect(ids('/a')).toBe(idsOf('gatsby-source-filesystem')('/a'));
});
