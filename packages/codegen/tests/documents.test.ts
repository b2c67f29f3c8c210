import { closestName, matchesPath } from '../src/documents.js';

test.each([
  ['a missing letter', 'limt', 'limit'],
  ['different case', 'LIMIT', 'limit'],
  ['two swapped letters', 'offest', 'offset'],
  ['no similar name', 'page', undefined],
])('closestName: %s: "%s" gives %s', (_reason, name, want) => {
  expect(closestName(name, ['limit', 'offset'])).toBe(want);
});

test.each([
  ['schema/**/*.{graphql,gql}', ['schema/a.graphql', 'schema/b.gql', 'schema/sub/deep/c.gql']],
  ['schema/*.graphql', ['schema/a.graphql']],
  ['**/a.*', ['schema/a.graphql', 'schema.d/a.gql']],
])('matchesPath: %s', (pattern, want) => {
  const files = [
    'schema/a.graphql',
    'schema/b.gql',
    'schema/sub/deep/c.gql',
    'schema/.b.gql',
    'schema.d/a.gql',
    'b.gql',
  ];
  expect(files.filter((file) => matchesPath(pattern, file))).toEqual(want);
});
