import { findNearest } from '../../../src/codegen/openapi/suggest.js';

test.each([
  ['one letter short', 'limt', 'limit'],
  ['another case', 'LIMIT', 'limit'],
  ['two letters swapped', 'offest', 'offset'],
  ['nothing alike', 'page', undefined],
])('%s: "%s" is taken for %s', (_reason, name, want) => {
  expect(findNearest(name, ['limit', 'offset'])).toBe(want);
});
