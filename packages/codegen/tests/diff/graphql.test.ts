import { readFileSync } from 'node:fs';
import { compareGraphql, GRAPHQL_RULES } from '../../src/diff/graphql.js';

const SDL = `type Query {
  plant: Plant
  pots(size: Int): [Pot]
}
type Plant {
  name: String
  pot: Pot
  state: State
}
type Pot {
  size: Int
}
enum State {
  DRY
  WET
}
union Thing = Plant | Pot
input Filter {
  size: Int
}
`;

const compare = (before: string, after: string) =>
  compareGraphql(
    { sdl: before, file: 'v1:schema.graphql', documents: new Map([['v1:schema/garden.graphql', before]]) },
    { sdl: after, file: 'schema.graphql', documents: new Map([['schema/garden.graphql', after]]) },
  );

/** The line of a part of the schema; a final `$` stands for the end of the schema. */
const lineOf = (part: string) => `${SDL}$`.split(part)[0]?.split('\n').length;

test.each([
  [
    '  size: Int\n}\nenum',
    '  width: Int\n}\nenum',
    'field-removed',
    'breaking',
    'v1:schema/garden.graphql',
    '  size: Int\n}\nenum',
    ['plant', 'pots'],
  ],
  [
    '  name: String',
    '  name: Int',
    'field-changed-kind',
    'breaking',
    'schema/garden.graphql',
    '  name: String',
    ['plant'],
  ],
  ['  WET\n', '', 'value-removed-from-enum', 'breaking', 'v1:schema/garden.graphql', '  WET', ['plant']],
  ['  WET\n', '  WET\n  ICY\n', 'value-added-to-enum', 'dangerous', 'schema/garden.graphql', '}\nunion', ['plant']],
  [
    '(size: Int)',
    '(size: Int, shape: Int!)',
    'required-arg-added',
    'breaking',
    'schema/garden.graphql',
    '  pots',
    ['pots'],
  ],
  [
    '(size: Int)',
    '(size: Int, shape: Int)',
    'optional-arg-added',
    'dangerous',
    'schema/garden.graphql',
    '  pots',
    ['pots'],
  ],
  [
    '(size: Int)',
    '(size: Int = 1)',
    'arg-default-value-change',
    'dangerous',
    'schema/garden.graphql',
    '  pots',
    ['pots'],
  ],
  ['input Filter {', 'input Filter @oneOf {', 'one-of-added', 'breaking', 'schema/garden.graphql', 'input Filter', []],
  [
    'input Filter {\n  size: Int',
    'input Filter {\n  size: Int = 1',
    'input-field-default-value-change',
    'dangerous',
    'schema/garden.graphql',
    '  size: Int\n}\n$',
    [],
  ],
  [
    'input Filter {',
    'input Filter {\n  a: Int!',
    'required-input-field-added',
    'breaking',
    'schema/garden.graphql',
    '  size: Int\n}\n$',
    [],
  ],
  [
    'union Thing = Plant | Pot',
    'union Thing = Plant',
    'type-removed-from-union',
    'breaking',
    'schema/garden.graphql',
    'union',
    [],
  ],
  ['type Pot {', 'type Jar { a: Int }\ntype Pot {', 'type-added', 'safe', 'schema/garden.graphql', 'type Pot', []],
  [
    '  name: String',
    '  name: String\n  age: Int',
    'field-added',
    'safe',
    'schema/garden.graphql',
    '  pot: Pot',
    ['plant'],
  ],
])('the edit of %j to %j is reported as %s', (part, replacement, rule, severity, file, place, operations) => {
  const found = compare(SDL, SDL.replace(part, replacement)).find((change) => change.rule === rule);
  expect(found).toMatchObject({ severity, location: { file }, operations });
  expect(found?.location.line).toBe(lineOf(place));
});

test('a default of a value that was required changes nothing', () => {
  const required = SDL.replace('(size: Int)', '(size: Int!)').replace(
    'Filter {\n  size: Int',
    'Filter {\n  size: Int!',
  );
  const optional = required.replace('(size: Int!)', '(size: Int! = 1)').replace('Int!\n', 'Int! = 1\n');
  expect(optional).not.toMatch(/Int!(?! = 1)/);
  expect(compare(required, optional)).toEqual([]);
});

test('equal schemas have no changes', () => {
  expect(compare(SDL, `# A comment.\n${SDL}`)).toEqual([]);
});

test('the documentation lists every rule with its severity', () => {
  const page = readFileSync(new URL('../../../../docs/breaking-changes.md', import.meta.url), 'utf8');
  for (const [rule, severity] of GRAPHQL_RULES) {
    expect(page).toMatch(new RegExp(`\\| ${severity} +\\|.*\`${rule}\``));
  }
});

test('a change affects the queries that lead to it through inputs and unions', () => {
  const before = `type Query { pots(filter: Filter): Int, things: [Thing] }
    input Filter { size: Range }
    input Range { min: Int, max: Int }
    union Thing = Plant
    type Plant { name: String }`;
  const after = before.replace(', max: Int', '').replace('name: String', 'name: Int');
  expect(compare(before, after).map(({ message, operations }) => [message, operations])).toEqual([
    ['Range.max was removed.', ['pots']],
    ['Plant.name changed type from String to Int.', ['things']],
  ]);
});
