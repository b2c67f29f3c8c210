import { findNearest } from '../../../src/codegen/openapi/suggest.js';

test.each([
  ['a missing letter', 'limt', 'limit'],
  ['different case', 'LIMIT', 'limit'],
  ['two swapped letters', 'offest', 'offset'],
  ['no similar name', 'page', undefined],
])('closestName: %s: "%s" gives %s', (_reason, name, want) => {
  expect(findNearest(name, ['limit', 'offset'])).toBe(want);
});
