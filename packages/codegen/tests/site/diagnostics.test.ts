import { documentsWith, listDiagnostics } from './documents.js';

/** Each text has an error at ▲. A record type is appended, as a contract needs at least one. */
const errors: readonly (readonly [reason: string, text: string, message: string])[] = [
  ['broken syntax', 'type Recipe {\n  title ▲String\n}', 'Syntax Error: Expected ":", found Name "String".'],
  ['an unknown type', 'type Pan {\n  size: ▲Strng\n}', 'Unknown type "Strng". Did you mean "String"?'],
  ['a duplicate type', 'type Pan { a: Int }\ntype ▲Pan { b: Int }', 'There can be only one type named "Pan".'],
  ['a duplicate field', 'type Pan {\n  a: Int\n  ▲a: Int\n}', 'Field "Pan.a" can only be defined once.'],
  ['a duplicate enum value', 'enum Heat { LOW ▲LOW }', 'Enum value "Heat.LOW" can only be defined once.'],
  [
    'an unknown directive',
    'type Pan { a: Int ▲@clean }',
    'Expected one of @alias, @child, @computed, @dateformat, @index, @link, @markdown, @record, @search, @slug, @source, @stored, @deprecated; received @clean.',
  ],
  [
    'a duplicate directive',
    'type Pan { a: Int @index ▲@index }',
    'The directive "@index" can only be used once at this location.',
  ],
  ['a misplaced directive', 'input Pan ▲@record { a: Int }', 'Directive "@record" may not be used on INPUT_OBJECT.'],
  [
    'an unknown argument',
    'type P implements Node @record { a: Int @link(▲form: "x", from: "a", to: "id") }',
    'Unknown argument "form" on directive "@link". Did you mean "from"?',
  ],
  [
    'a missing argument',
    'type P implements Node @record { a: Int ▲@alias b: Int }',
    'Directive "@alias" argument "of" of type "String!" is required, but it was not provided.',
  ],
  [
    'an argument of the wrong type',
    'type P implements Node @record @source(glob: ▲1) { a: Int }',
    'Expected a value of type [String!]! for "glob"; received 1.',
  ],
  ['a default of the wrong type', 'input Pan { a: Int = ▲"x" }', 'Expected a default of type Int; received "x".'],
  [
    'a default that is not an enum value',
    'enum Heat { LOW }\ninput Pan { a: Heat = ▲HIGH }',
    'Expected a default of type Heat; received HIGH.',
  ],
  [
    'a null in a default of a non-null type',
    'input Pan { a: [Int!]! = ▲[1, null] }',
    'Expected a default of type [Int!]!; received [1, null].',
  ],
  [
    'an input type as output',
    'input Oil { a: Int }\ntype Pan { a: ▲Oil }',
    'The type of Pan.a must be Output Type but got: Oil.',
  ],
  ['a type without fields', 'type ▲Pan', 'Type Pan must define one or more fields.'],
  [
    'a name that GraphQL reserves',
    'type Pan { ▲__a: Int }',
    'Name "__a" must not begin with "__", which is reserved by GraphQL introspection.',
  ],
  [
    'a field of Node with the wrong type',
    'type P implements Node @record { id: ▲Int! }',
    'Interface field Node.id expects type ID! but P.id is type Int!.',
  ],

  [
    'a name that is derived from a record type',
    'type Pan implements Node @record { a: Int }\ninput ▲PanFilterInput { a: Int }',
    'The name "PanFilterInput" is reserved: it is generated for the record types.',
  ],
  [
    'a name that is generated for every contract',
    'enum ▲SortOrderEnum { UP }',
    'The name "SortOrderEnum" is reserved: it is generated for the record types.',
  ],
  [
    'a directive that is generated for every contract',
    'directive @▲live on QUERY',
    'The name "@live" is reserved: it is generated for all record types.',
  ],
  [
    'a record type whose derived name is generated for a second type',
    'type Pan implements Node @record { a: Int }\ntype ▲PanGroup implements Node @record { a: Int }',
    'The name "PanGroupConnection" is reserved: it is generated for Pan.',
  ],
  [
    'a record type whose derived name is generated for every contract',
    'type ▲Group implements Node @record { a: Int }',
    'The name "GroupSortInput" is reserved: it is generated for all record types.',
  ],
  [
    'an extension of a derived type',
    'extend enum ▲KettleFieldsEnum { a }',
    'The type "KettleFieldsEnum" is generated and cannot be extended.',
  ],
  [
    'a query that is derived',
    'extend type Query { ▲allKettle: Int }',
    'Field "Query.allKettle" can only be defined once.',
  ],
  ['the root type', 'type ▲Query { a: Int }', 'The type Query is generated. Add fields with "extend type Query".'],
  ['the type Mutation', 'type ▲Mutation { a: Int }', 'The name "Mutation" is reserved: the schema is read-only.'],
  [
    'a schema definition',
    '▲schema { query: Query }',
    'A schema definition is not allowed: the types of operations, Query and Subscription, are generated.',
  ],
  ['a query', '▲query { a }', 'Expected the definition of a type, directive or extension; received a query.'],

  [
    'a record type that does not implement Node',
    'type ▲Pan @record { a: Int }',
    'Pan is marked @record but does not implement Node.',
  ],
  [
    'a Node that is not a record type',
    'type ▲Pan implements Node { id: ID! parent: Node children: [Node!]! internal: Internal! }',
    'Pan implements Node but lacks @record. Add it: type Pan implements Node @record.',
  ],
  [
    'a source of a type that is not a record type',
    'type Pan ▲@source(glob: "*") { a: Int }',
    '@source is only allowed on @record types; Pan is not one.',
  ],
  [
    'a source on an extension',
    'extend type Kettle ▲@source(glob: "*.md") { a: Int }',
    '@source is not allowed on an extension. Move it to the definition of the type.',
  ],
  [
    'a source without patterns',
    'type Pan implements Node @record @source(glob: ▲[]) { a: Int }',
    'Expected at least one pattern; received an empty list.',
  ],
  ...['', ' ', '/pans/*.md', 'C:/pans', '\\\\pans', '../pans/*', 'pans/../*', './*.md', '{..,pans}/*', '!pans/*'].map(
    (glob): [string, string, string] => [
      `the source "${glob}"`,
      `type Pan implements Node @record @source(glob: ["*.md", ▲"${glob}"]) { a: Int }`,
      `Expected a pattern of files below the site's folder, such as \`content/*.md\`; received "${glob.replace('\\\\', '\\')}".`,
    ],
  ),
  ...['', 'a..b', '*.'].map((at): [string, string, string] => [
    `the keys "${at}" of a source`,
    `type Pan implements Node @record @source(glob: "*.yml", at: ▲"${at}") { a: Int }`,
    `Expected keys separated by dots, such as \`authors\`, or \`*\` for each key of an object; received "${at}".`,
  ]),
  [
    'a lower-case record type',
    'type ▲pan implements Node @record { a: Int }',
    'Expected the name of a record type to start with a capital letter; received "pan".',
  ],
  [
    'record types that differ only in case',
    'type Pan implements Node @record { a: Int }\ntype ▲PAN implements Node @record { a: Int }',
    'The query "pAN" conflicts with one of Pan; case is ignored.',
  ],
  [
    'fields that differ only in case',
    'type Pan implements Node @record { size: Int ▲Size: Int }',
    'The name "Size" conflicts with Pan.size; case is ignored.',
  ],
  [
    'a field named like an internal column',
    'type Pan implements Node @record { ▲position: Int }',
    'The name "position" conflicts with the internal column of the record order; case is ignored.',
  ],
  [
    'a name that looks like a path',
    'type Pan implements Node @record { ▲a___b: Int }',
    'Expected a name without "___", which separates the segments of a path; received "a___b".',
  ],

  [
    'a scalar that cannot be stored',
    'scalar Blob\ntype Pan implements Node @record { a: ▲Blob }',
    'A record cannot store Blob. Name the scalar that stores it: scalar Blob @stored(as: "String").',
  ],
  [
    'a union in a record',
    'union Any = Internal | PageInfo\ntype Pan implements Node @record { a: ▲Any }',
    'Expected a type that a record can store: Boolean, Date, Float, ID, Int, String, an enum or an object; received Any.',
  ],
  [
    'a list of lists',
    'type Pan implements Node @record { a: ▲[[Int!]!]! }',
    'Expected a list of single values; received [[Int!]!]!, a list of lists.',
  ],
  [
    'an object that contains itself',
    'type Pan implements Node @record { a: Lid }\ntype ▲Lid { lid: Lid }',
    'Lid contains itself.',
  ],
  [
    'a record type without @link or @child',
    'type Pan implements Node @record { a: ▲Pan }',
    'Expected @link or @child on a field of the record type Pan.',
  ],
  [
    'a record type inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { ▲pan: Pan }',
    'Expected a scalar, an enum or an object; received the record type Pan.',
  ],
  [
    'arguments of a stored field',
    'type Pan implements Node @record { ▲a(b: Int): Int }',
    'Only @computed fields can declare arguments; @dateformat adds those of dates.',
  ],

  [
    '@dateformat on text',
    'type Pan implements Node @record { a: String ▲@dateformat }',
    'Expected @dateformat on a field of type Date; received String.',
  ],
  [
    '@dateformat with arguments',
    'type Pan implements Node @record { a(b: Int): Date @computed ▲@dateformat }',
    'A field with @dateformat cannot declare arguments: the directive adds them.',
  ],
  [
    '@index on a list',
    'type Pan implements Node @record { a: [Int] ▲@index }',
    'Expected @index on a stored field with one value; received [Int].',
  ],
  [
    '@computed inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { a: Int ▲@computed }',
    '@computed is only allowed on fields of @record types; Lid is not one.',
  ],
  [
    '@computed that needs a field that is not stored',
    'type Pan implements Node @record { a: Int ▲@computed(needs: ["b"]) }',
    'Expected "needs" to name stored fields of Pan; received "b".',
  ],
  [
    'two sources of one value',
    'type Pan implements Node @record { a: Int @alias(of: "b") ▲@computed b: Int }',
    'Expected at most one of @alias, @child, @computed, @link, @markdown, @slug; received @alias and @computed.',
  ],
  [
    '@markdown of an unknown field',
    'type Pan implements Node @record { a: Markdown ▲@markdown(of: "b") }',
    'Expected @markdown of a stored text field of Pan; received "b".',
  ],
  [
    '@markdown of a list',
    'type Pan implements Node @record { a: Markdown ▲@markdown(of: "b") b: [String] }',
    'Expected @markdown of a stored text field of Pan; received "b".',
  ],
  [
    '@markdown with a different type',
    'type Pan implements Node @record { body: String a: ▲String @markdown }',
    'Expected the type Markdown; received String.',
  ],
  [
    'required @markdown of a text that can be null',
    'type Pan implements Node @record { body: String a: ▲Markdown! @markdown }',
    'Expected a type that can be null, as Pan.body can; received Markdown!.',
  ],
  [
    'a field of the type Markdown without @markdown',
    'type Pan implements Node @record { body: String a: Markdown @markdown b: ▲Markdown }',
    'Expected @markdown on a field of the type Markdown.',
  ],
  [
    'a type with the name of a built-in one',
    'type Pan implements Node @record { body: String a: Markdown @markdown }\ntype ▲Markdown { b: Int }',
    'Markdown is a built-in type, which built-in/markdown.graphql:3 defines. Choose another name.',
  ],
  [
    '@search on a number',
    'type Pan implements Node @record { a: Int ▲@search }',
    'Expected @search on a stored field with text; received Int.',
  ],
  [
    '@search on a computed text',
    'type Pan implements Node @record { a: String @computed ▲@search }',
    'Expected @search on a stored field with text; received String.',
  ],
  [
    '@search without weight',
    'type Pan implements Node @record { a: String ▲@search(weight: 0) }',
    'Expected the weight of @search to be more than 0 and at most 1000; received 0.',
  ],
  [
    '@search inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { a: String ▲@search }',
    '@search is only allowed on fields of @record types; Lid is not one.',
  ],
  [
    '@alias of an unknown field',
    'type Pan implements Node @record { a: Int ▲@alias(of: "b") }',
    'Expected @alias of a stored field of Pan with the type Int; received "b".',
  ],
  [
    '@alias of a different type',
    'type Pan implements Node @record { a: Int ▲@alias(of: "b") b: [Int] }',
    'Expected @alias of a stored field of Pan with the type Int; received "b" with the type [Int].',
  ],
  [
    'a non-null @alias of a nullable field',
    'type Pan implements Node @record { a: Int! ▲@alias(of: "b") b: Int }',
    'Expected @alias of a stored field of Pan with the type Int!; received "b" with the type Int.',
  ],
  [
    'a non-null @child',
    'type Pan implements Node @record { a: ▲Pan! @child }',
    'Expected Pan, one record or null; received Pan!.',
  ],
  [
    '@child that is not a record type',
    'type Pan implements Node @record { a: ▲Int @child }',
    'Expected a @record type; received Int.',
  ],
  [
    '@link from an unknown field',
    'type Pan implements Node @record { a: Pan ▲@link(from: "b", to: "id") }',
    'Expected "from" to name a stored field of Pan with one value; received "b".',
  ],
  [
    '@link to an unknown field',
    'type Pan implements Node @record { a: Pan ▲@link(from: "id", to: "internal") }',
    'Expected "to" to name a stored field of Pan with one value; received "internal".',
  ],
  [
    'a non-null @link',
    'type Pan implements Node @record { a: ▲Pan! @link }',
    'Expected Pan, as the linked record may be missing; received Pan!.',
  ],
  [
    '@link to a type that is not a record type',
    'type Pan implements Node @record { a: ▲[Int] @link }',
    'Expected a @record type; received [Int].',
  ],
  [
    '@link from text to numbers',
    'type Pan implements Node @record { a: Pan ▲@link(to: "b") b: Int }',
    'Expected "to" to name a field of the same type as the keys (text); received "b" (numbers).',
  ],
  [
    '@link from numbers to the default, the id',
    'type Pan implements Node @record { a: Pan ▲@link(from: "b") b: Int }',
    'Expected "to" to name a field of the same type as the keys (numbers); received "id" (text).',
  ],
  [
    '@link of a list from one value',
    'type Pan implements Node @record { a: [Pan!]! ▲@link(from: "b") b: ID }',
    'Expected "from" to name a stored field of Pan with a list of values; received "b".',
  ],
  [
    '@link of one record from a list',
    'type Pan implements Node @record { a: Pan ▲@link(from: "b") b: [ID!] }',
    'Expected "from" to name a stored field of Pan with one value; received "b".',
  ],
  [
    '@link to a list',
    'type Pan implements Node @record { a: [Pan] ▲@link(to: "b") b: [ID!] }',
    'Expected "to" to name a stored field of Pan with one value; received "b".',
  ],
  [
    '@link from objects',
    'type Pan implements Node @record { a: [Pan] ▲@link(from: "b") b: [Lid!] }\ntype Lid { c: Int }',
    'Expected "from" to name a stored field of Pan with a list of values; received "b".',
  ],
  [
    '@link inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { pan: Pan ▲@link }',
    '@link is only allowed on fields of @record types; Lid is not one.',
  ],
];

const KETTLE = '\ntype Kettle implements Node @record { litres: Int }';

describe('an error in a site contract', () => {
  test.each(errors)('is reported at its position: %s', (_reason, marked, message) => {
    const before = marked.slice(0, marked.indexOf('▲')).split('\n');
    const text = marked.replace('▲', '') + KETTLE;
    const place = { file: 'schema/kitchen.graphql', line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    expect(listDiagnostics(documentsWith(text))).toContainEqual({ ...place, message });
  });

  test('causes no further errors', () => {
    const texts = errors.filter(([reason]) => reason !== 'two sources of one value').map(([, text]) => text);
    const counts = texts.map((text) => listDiagnostics(documentsWith(text.replace('▲', '') + KETTLE)).length);
    expect(texts.filter((_text, index) => counts[index] !== 1)).toEqual([]);
  });

  test('suggests names for the first 100 unknown types, as each is compared with all types', () => {
    const fields = Array.from({ length: 102 }, (_, index) => `f${index}: Itn\n`);
    const messages = listDiagnostics(documentsWith(`type Pan { ${fields.join('')}}${KETTLE}`)).map(
      ({ message }) => message,
    );
    expect(messages.slice(0, 100).every((message) => message.includes('Did you mean'))).toBe(true);
    expect(messages.slice(100)).toEqual(['Unknown type "Itn".', 'Unknown type "Itn".']);
  });

  test('does not hide other errors in any document', () => {
    const documents = documentsWith('type Pan { size: Itn lid: Lidd }\ntype KettleEdge { a: Int }' + KETTLE);
    documents.set('schema/attic.graphql', 'type Box { a: Int @clean }');
    expect(listDiagnostics(documents).map(({ file, line, column }) => [file, line, column])).toEqual([
      ['schema/attic.graphql', 1, 19],
      ['schema/kitchen.graphql', 1, 18],
      ['schema/kitchen.graphql', 1, 27],
      ['schema/kitchen.graphql', 2, 6],
    ]);
  });

  test('is not reported for a valid contract', () => {
    const text = `
      type Pan implements Node @record {
        lid: Lid
        rims: [Lid!]!
        hot: Int @computed(needs: ["lid.b", "rims", "parent", "twin"])
        twin: Pan @link
        codes: [ID!]
        others: [Pan!]! @link(from: "codes", to: "code2")
        code2: ID
        code: ID! @alias(of: "id")
      }
      type Lid { b: Int }
      type LidEdge { c: Int }
      extend type Pan { more: Date @dateformat }
      extend type Query { pans(sort: [SortOrderEnum] = [ASC], filter: PanFilterInput = {more: {eq: "2020"}}): [Pan!]! }
    `;
    expect(listDiagnostics(documentsWith(text))).toEqual([]);
  });

  test('in the syntax is reported for every document', () => {
    const documents = documentsWith('type Pan {').set('schema/attic.graphql', 'tipe Box');
    expect(listDiagnostics(documents).map(({ file }) => file)).toEqual([
      'schema/attic.graphql',
      'schema/kitchen.graphql',
    ]);
  });

  test('is the absence of types that derived types need', () => {
    expect(listDiagnostics(new Map([['schema/a.graphql', '# Empty.']])).map(({ message }) => message)).toEqual([
      'No type is marked @record.',
      'The documents do not define "interface Node".',
      'The documents do not define "scalar Date".',
      'The documents do not define "type PageInfo".',
    ]);
  });
});

test('a directive that the documents of an older project do not declare is reported with a place to copy it from', () => {
  const file = 'schema/directives.graphql';
  const documents = documentsWith('type Pan implements Node @record @source(glob: "*.md") { slug: String @slug }');
  documents.set(file, (documents.get(file) ?? '').replace('@slug on', '@old on'));
  expect(listDiagnostics(documents).map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/; received @slug\. Copy its definition from schema\/directives\.graphql of a new project/u),
  );
});
