import { closestName } from '../src/documents.js';

test.each([
  ['a missing letter', 'limt', 'limit'],
  ['different case', 'LIMIT', 'limit'],
  ['two swapped letters', 'offest', 'offset'],
  ['no similar name', 'page', undefined],
])('closestName: %s: "%s" gives %s', (_reason, name, want) => {
  expect(closestName(name, ['limit', 'offset'])).toBe(want);
});
