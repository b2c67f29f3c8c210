import { ask } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Descriptions, deprecations and directives';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'descriptions and @deprecated',
    outcome: 'supported',
    contract: `"A boat." type Boat implements Node @record @source(glob: "*.json") {
      "Its name." name: String! title: String @deprecated(reason: "Use name.")
    }
    extend type Query { "Counts." count("Of what." of: String, old: Int @deprecated(reason: "Unused.")): Int }`,
    files: { 'a.json': '{"name": "Anna"}' },
    resolvers: { Query: { count: () => 1 } },
    exchanges: [
      ask(
        '{ __type(name: "Boat") { description fields(includeDeprecated: true) { name description isDeprecated deprecationReason } } boat { title } count }',
        {
          __type: {
            description: 'A boat.',
            fields: [
              { name: 'name', description: 'Its name.', isDeprecated: false },
              { name: 'title', isDeprecated: true, deprecationReason: 'Use name.' },
              { name: 'id' },
              { name: 'parent' },
              { name: 'children' },
              { name: 'internal' },
            ],
          },
          boat: { title: null },
          count: 1,
        },
      ),
    ],
    published: ['"Counts."', '"Of what."', 'old: Int @deprecated(reason: "Unused.")'],
  },
  {
    section,
    feature: 'own directives',
    note: 'They are part of the served and of the published schema; those of the generator are not.',
    outcome: 'supported',
    contract: `"For readers of the schema." directive @owner(team: Team!) repeatable on OBJECT | FIELD_DEFINITION
    enum Team { SEA LAND }
    type Boat implements Node @record @source(glob: "*.json") @owner(team: SEA) { name: String! @index @owner(team: LAND) }`,
    exchanges: [
      ask('{ __schema { directives { name isRepeatable args { name } } } }', {
        __schema: {
          directives: [
            { name: 'live', isRepeatable: false, args: [{ name: 'if' }] },
            { name: 'owner', isRepeatable: true, args: [{ name: 'team' }] },
            { name: 'include' },
            { name: 'skip' },
            { name: 'deprecated' },
            { name: 'specifiedBy' },
            { name: 'oneOf' },
          ],
        },
      }),
    ],
    published: [
      'directive @owner(team: Team!) repeatable on OBJECT | FIELD_DEFINITION',
      'type Boat implements Node @owner(team: SEA) {',
      'name: String! @owner(team: LAND)',
    ],
    unpublished: ['@record', '@index', '@source', '@link', '@dateformat'],
  },
  {
    section,
    feature: '@oneOf inputs',
    outcome: 'supported',
    contract: 'input Choice @oneOf { name: String size: Int } extend type Query { pick(by: Choice!): String }',
    resolvers: { Query: { pick: (_root: unknown, { by }: { by: object }) => Object.keys(by).join(' ') } },
    exchanges: [ask('{ pick(by: {size: 1}) }', { pick: 'size' })],
  },
  {
    section,
    feature: 'an unknown directive',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { a: Int @clean }',
    errors: [
      '1:44 Expected one of @alias, @child, @computed, @dateformat, @index, @link, @markdown, @record, @search, @slug, @source, @stored, @deprecated; received @clean.',
    ],
  },
  {
    section,
    feature: 'a directive in the wrong place',
    outcome: 'refused',
    contract: 'input Boat @record { a: Int }\nextend type Query { a(b: Boat): Int }',
    errors: ['1:12 Directive "@record" may not be used on INPUT_OBJECT.'],
  },
  {
    section,
    feature: 'a repeated directive',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { a: Int @index @index }',
    errors: ['1:51 The directive "@index" can only be used once at this location.'],
  },
  {
    section,
    feature: 'a missing argument of a directive',
    outcome: 'refused',
    contract: 'type Boat implements Node @record { a: Int @alias b: Int }',
    errors: ['1:44 Directive "@alias" argument "of" of type "String!" is required, but it was not provided.'],
  },
  {
    section,
    feature: 'a wrong value of an argument of a directive',
    outcome: 'refused',
    contract: 'type Boat implements Node @record @source(glob: 1) { a: Int }',
    errors: ['1:49 Expected a value of type [String!]! for "glob"; received 1.'],
  },
  {
    section,
    feature: 'a wrong value of an own directive',
    outcome: 'refused',
    contract: 'directive @big(size: Int!) on OBJECT\ntype Boat implements Node @record @big(size: "x") { a: Int }',
    errors: ['2:46 Expected a value of type Int! for "size"; received "x".'],
  },
];
