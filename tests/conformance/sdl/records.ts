import { ask } from '../ask.js';
import type { Row } from '../row.js';

const section = 'Record types';

const refused = (feature: string, contract: string, ...errors: string[]): Row => ({
  section,
  feature,
  outcome: 'refused',
  contract,
  errors,
});

const source = (glob: string, error: string): Row =>
  refused(
    `@source(glob: "${glob}")`,
    `type Boat implements Node @record @source(glob: "${glob}") { a: Int }`,
    `1:49 ${error}; received ${error.includes('records') ? 'files with the extension "txt"' : `"${glob}"`}.`,
  );

const BELOW = "Expected a pattern of files below the site's folder, such as `content/*.md`";

export const rows: readonly Row[] = [
  {
    section,
    feature: '@source: JSON, YAML, TOML, CSV and Markdown',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: ["boats/*", "more.{json,yml}"]) {
      name: String! crew: [String!]! hull: Hull parts: [Part!] body: String
    }
    type Hull { length: Int since: Date @dateformat }
    type Part { name: String! sizes: [Int!] }`,
    files: {
      'boats/a.json':
        '{"name": "A", "hull": {"length": 3, "since": "2020-01-02"}, "parts": [{"name": "mast", "sizes": [1, 2]}]}',
      'boats/b.md': '---\nname: B\n---\nHello.\n',
      'boats/c.csv': 'name,crew\nC,ada;bob\n',
      'boats/d.png': 'x',
      'boats/e.toml': 'name = "E"\n[hull]\nsince = 2021-02-03\n',
      'boats/f.md': '+++\nname = "F"\n+++\nAhoy.\n',
      'more.yml': 'name: D\n',
    },
    exchanges: [
      ask('{ allBoat { nodes { name crew body hull { length since(formatString: "MMMM") } parts { name sizes } } } }', {
        allBoat: {
          nodes: [
            { name: 'A', crew: [], hull: { length: 3, since: 'January' }, parts: [{ name: 'mast', sizes: [1, 2] }] },
            { name: 'B', body: 'Hello.\n', hull: null, parts: null },
            { name: 'C', crew: ['ada', 'bob'] },
            { name: 'E', hull: { length: null, since: 'February' } },
            { name: 'F', body: 'Ahoy.\n' },
            { name: 'D' },
          ],
        },
      }),
      ask('{ allBoat(filter: {parts: {elemMatch: {sizes: {eq: 2}}}, hull: {length: {lt: 4}}}) { totalCount } }', {
        allBoat: { totalCount: 1 },
      }),
    ],
  },
  {
    section,
    feature: '@slug',
    note: 'The path of the file below the folder that its glob begins with, unless the file has a value, or the entry of a data file an `id`.',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: ["boats/**/*.md", "more/*.json"]) {
      slug: String! @slug title: String @slug @search
      twin: Boat @link(to: "slug")
    }`,
    files: {
      'boats/anna.md': '---\nid: a1\ntitle: Anna\ntwin: old/berta\n---\n',
      'boats/old/berta/index.md': '---\nslug:\n---\n',
      'boats/old/clara.v2.md': '---\nslug: clara\n---\n',
      'boats/index.md': '',
      'more/list.json': '[{"slug": "one"}, {}, {"id": "dora", "title": "Dora"}, {"id": 5}]',
    },
    exchanges: [
      ask('{ allBoat { nodes { slug title twin { slug } } } }', {
        allBoat: {
          nodes: [
            { slug: 'anna', title: 'Anna', twin: { slug: 'old/berta' } },
            { slug: '', title: '' },
            { slug: 'old/berta', title: 'old/berta' },
            { slug: 'clara', title: 'old/clara.v2' },
            { slug: 'one', title: 'list' },
            { slug: 'list', title: 'list' },
            { slug: 'dora', title: 'Dora' },
            { slug: '5', title: '5' },
          ],
        },
      }),
      ask('{ boat(slug: {eq: "old/berta"}) { title } allBoat(search: "clara") { totalCount } }', {
        boat: { title: 'old/berta' },
        allBoat: { totalCount: 1 },
      }),
    ],
  },
  {
    section,
    feature: '@slug of a list or a number',
    outcome: 'refused',
    contract: 'type Boat implements Node @record @source(glob: "*.json") { a: [String!] @slug b: Int @slug }',
    errors: ['1:64 Expected the type String; received [String!].', '1:83 Expected the type String; received Int.'],
  },
  {
    section,
    feature: '@slug without files',
    outcome: 'refused',
    contract: `type Boat implements Node @record { slug: String @slug hull: Hull }
type Hull { slug: String @slug }`,
    errors: [
      '1:50 Expected @slug in a record type with @source; Boat has no files.',
      '2:26 @slug is only allowed on fields of @record types; Hull is not one.',
    ],
  },
  {
    section,
    feature: 'extend type on a record type',
    outcome: 'supported',
    contract: `type Boat implements Node @record @source(glob: "*.json") { name: String! }
      extend type Boat { length: Int also: String! @alias(of: "name") }`,
    files: { 'a.json': '{"name": "A", "length": 3}' },
    exchanges: [ask('{ boat(also: {eq: "A"}) { length also } }', { boat: { length: 3, also: 'A' } })],
  },
  {
    section,
    feature: 'fields of Node, written or left out',
    outcome: 'supported',
    contract: 'type Boat implements Node @record @source(glob: "*.json") { id: ID! name: String! }',
    files: { 'a.json': '{"name": "A"}' },
    exchanges: [
      ask('{ boat { parent { internal { type } } children { id } internal { owner } } }', {
        boat: { parent: { internal: { type: 'File' } }, children: [], internal: { owner: 'trellis-content' } },
      }),
    ],
  },
  refused(
    'a built-in type that is declared again',
    'type File { name: String }',
    '1:6 File is a built-in type, which schema/file.graphql:2 defines. Choose another name, or add fields to it: extend type File.',
  ),
  refused(
    'a built-in record type that is declared again',
    'type SitePage implements Node @record { path: String }',
    '1:6 SitePage is a built-in type, which schema/site.graphql:34 defines. Choose another name, or add fields to it: extend type SitePage.',
  ),
  refused(
    'Date, Node and PageInfo that are declared again',
    'scalar Date\ninterface Node { id: ID! }\ntype PageInfo { size: Int }',
    '1:8 Date is a built-in type, which schema/node.graphql:5 defines. Choose another name.',
    '2:11 Node is a built-in type, which schema/node.graphql:8 defines. Choose another name.',
    '3:6 PageInfo is a built-in type, which schema/node.graphql:40 defines. Choose another name, or add fields to it: extend type PageInfo.',
  ),
  {
    section,
    feature: 'fields that are added to the metadata of the site',
    note: 'The values are those of `siteMetadata` in the configuration of the site.',
    outcome: 'supported',
    contract: `extend type SiteSiteMetadata { siteUrl: String social: Social languages: [String!]! }
      type Social { twitter: String followers: Int }`,
    files: {
      'site.config.yaml':
        'siteMetadata: { title: T, siteUrl: https://example.org, social: { twitter: t, followers: 5 }, languages: [en, de] }',
    },
    exchanges: [
      ask('{ site { siteMetadata { title siteUrl social { twitter followers } languages } } }', {
        site: {
          siteMetadata: {
            title: 'T',
            siteUrl: 'https://example.org',
            social: { twitter: 't', followers: 5 },
            languages: ['en', 'de'],
          },
        },
      }),
      ask('{ site(siteMetadata: {social: {twitter: {eq: "x"}}}) { id } }', { site: null }),
    ],
  },
  refused(
    'a stored field that is added to a built-in type',
    'extend type File { owner: String! boat: SitePage @link }\nextend type Site { url: String }',
    '1:20 Nothing writes File.owner: the server writes the records of this type. Use @computed, @alias, @child or @link(by:).',
    '1:35 Nothing writes File.boat: the server writes the records of this type. Use @computed, @alias, @child or @link(by:).',
    '2:20 Nothing writes Site.url: the server writes the records of this type. Use @computed, @alias, @child or @link(by:).',
  ),
  refused(
    'extend interface Node',
    'extend interface Node { owner: String }',
    '1:18 The interface Node cannot be extended, as the records of built-in types have its fields.',
  ),
  refused(
    'a forgotten @record',
    'type Boat implements Node { name: String! }',
    '1:6 Boat implements Node but lacks @record. Add it: type Boat implements Node @record.',
  ),
  refused(
    'a forgotten Node',
    'type Boat @record { name: String! }',
    '1:6 Boat is marked @record but does not implement Node.',
  ),
  refused(
    'a type that nothing uses',
    'type Boat { name: String! }',
    '1:6 Nothing uses Boat. To read records of it, write: type Boat implements Node @record. Otherwise use it in a field, or delete it.',
  ),
  refused('an enum that nothing uses', 'enum Hull { WOOD }', '1:6 Nothing uses Hull. Use it in a field, or delete it.'),
  refused(
    'an input that nothing uses',
    'input Hull { a: Int }',
    '1:7 Nothing uses Hull. Use it in a field, or delete it.',
  ),
  refused('a scalar that nothing uses', 'scalar Hull', '1:8 Nothing uses Hull. Use it in a field, or delete it.'),
  refused(
    'types that only use each other',
    'type A { b: B }\ntype B { a: [A] }',
    '1:6 Nothing uses A. To read records of it, write: type A implements Node @record. Otherwise use it in a field, or delete it.',
    '2:6 Nothing uses B. To read records of it, write: type B implements Node @record. Otherwise use it in a field, or delete it.',
  ),
  source('boats/*.txt', 'Expected a pattern of files with records (csv, json, markdown, md, mdx, toml, yaml, yml)'),
  source(
    'boats/*.{md,txt}',
    'Expected a pattern of files with records (csv, json, markdown, md, mdx, toml, yaml, yml)',
  ),
  ...['', '/boats/*.md', '../boats/*.md', '!boats/*.md'].map((glob) => source(glob, BELOW)),
  refused(
    '@source without patterns',
    'type Boat implements Node @record @source(glob: []) { a: Int }',
    '1:49 Expected at least one pattern; received an empty list.',
  ),
  refused(
    '@source without @record',
    'type Boat @source(glob: "*.md") { a: Int }\nextend type Query { a: Boat }',
    '1:11 @source is only allowed on @record types; Boat is not one.',
  ),
  refused(
    '@source on an extension',
    'type Boat implements Node @record { a: Int }\nextend type Boat @source(glob: "*.md") { b: Int }',
    '2:18 @source is not allowed on an extension. Move it to the definition of the type.',
  ),
  refused(
    'a lower-case name',
    'type boat implements Node @record { a: Int }',
    '1:6 Expected the name of a record type to start with a capital letter; received "boat".',
  ),
  refused(
    'names that differ in case only',
    'type Boat implements Node @record { a: Int }\ntype BOAT implements Node @record { a: Int }',
    '2:6 The query "bOAT" conflicts with one of Boat; case is ignored.',
  ),
  refused(
    'fields that differ in case only',
    'type Boat implements Node @record { size: Int Size: Int }',
    '1:47 The name "Size" conflicts with Boat.size; case is ignored.',
  ),
  refused(
    'a field named position',
    'type Boat implements Node @record { position: Int }',
    '1:37 The name "position" conflicts with the internal column of the record order; case is ignored.',
  ),
  refused(
    'a name with ___',
    'type Boat implements Node @record { a___b: Int }',
    '1:37 Expected a name without "___", which separates the segments of a path; received "a___b".',
  ),
  refused(
    'a derived name',
    'type Boat implements Node @record { a: Int }\ninput BoatFilterInput { a: Int }',
    '2:7 The name "BoatFilterInput" is reserved: it is generated for the record types.',
  ),
  refused(
    'an extension of a derived type',
    'type Boat implements Node @record { a: Int }\nextend enum BoatFieldsEnum { a }',
    '2:13 The type "BoatFieldsEnum" is generated and cannot be extended.',
  ),
  refused(
    'record types whose derived names are equal',
    'type Boat implements Node @record { a: Int }\ntype BoatGroup implements Node @record { a: Int }',
    '2:6 The name "BoatGroupConnection" is reserved: it is generated for Boat.',
  ),
  refused(
    'a list of lists',
    'type Boat implements Node @record { a: [[Int]] }',
    '1:40 Expected a list of single values; received [[Int]], a list of lists.',
  ),
  refused(
    'an object that contains itself',
    'type Boat implements Node @record { a: Part }\ntype Part { part: Part }',
    '2:6 Part contains itself.',
  ),
  refused(
    'a record inside an object',
    'type Boat implements Node @record { a: Part }\ntype Part { boat: Boat }',
    '2:13 Expected a scalar, an enum or an object; received the record type Boat.',
  ),
  refused(
    '@dateformat on text',
    'type Boat implements Node @record { a: String @dateformat }',
    '1:47 Expected @dateformat on a field of type Date; received String.',
  ),
  refused(
    '@dateformat with arguments',
    'type Boat implements Node @record { a(b: Int): Date @computed @dateformat }',
    '1:63 A field with @dateformat cannot declare arguments: the directive adds them.',
  ),
  refused(
    '@index on a list',
    'type Boat implements Node @record { a: [Int] @index }',
    '1:46 Expected @index on a stored field with one value; received [Int].',
  ),
  refused(
    '@alias of an unknown field',
    'type Boat implements Node @record { a: Int @alias(of: "b") }',
    '1:44 Expected @alias of a stored field of Boat with the type Int; received "b".',
  ),
  refused(
    '@alias of a different type',
    'type Boat implements Node @record { a: Int @alias(of: "b") b: [Int] }',
    '1:44 Expected @alias of a stored field of Boat with the type Int; received "b" with the type [Int].',
  ),
  refused(
    'a field of Node with a wrong type',
    'type Boat implements Node @record { id: Int! }',
    '1:41 Interface field Node.id expects type ID! but Boat.id is type Int!.',
  ),
];
