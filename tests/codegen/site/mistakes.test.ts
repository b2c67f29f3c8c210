import { documentsWith, mistakesIn } from './documents.js';

/** Each text has its mistake at ▲; a kind is added where the text brings none. */
const mistakes: readonly (readonly [reason: string, text: string, message: string])[] = [
  ['broken syntax', 'type Recipe {\n  title ▲String\n}', 'Syntax Error: Expected ":", found Name "String".'],
  ['an unknown type', 'type Pan {\n  size: ▲Strng\n}', 'Unknown type "Strng". Did you mean "String"?'],
  ['a type twice', 'type Pan { a: Int }\ntype ▲Pan { b: Int }', 'There can be only one type named "Pan".'],
  ['a field twice', 'type Pan {\n  a: Int\n  ▲a: Int\n}', 'Field "Pan.a" can only be defined once.'],
  ['a member twice', 'enum Heat { LOW ▲LOW }', 'Enum value "Heat.LOW" can only be defined once.'],
  [
    'an unknown directive',
    'type Pan { a: Int ▲@clean }',
    'Expected one of @alias, @child, @computed, @dateformat, @index, @link, @record, @source, @deprecated; received @clean.',
  ],
  [
    'a directive twice',
    'type Pan { a: Int @index ▲@index }',
    'The directive "@index" can only be used once at this location.',
  ],
  ['a directive out of place', 'input Pan ▲@record { a: Int }', 'Directive "@record" may not be used on INPUT_OBJECT.'],
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
    'an argument of another type',
    'type P implements Node @record @source(glob: ▲1) { a: Int }',
    'Expected a value of type [String!]! for "glob"; received 1.',
  ],
  ['a default of another type', 'input Pan { a: Int = ▲"x" }', 'Expected a default of type Int; received "x".'],
  [
    'a default that is no member',
    'enum Heat { LOW }\ninput Pan { a: Heat = ▲HIGH }',
    'Expected a default of type Heat; received HIGH.',
  ],
  [
    'a null default where null is refused',
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
    'a name that GraphQL keeps',
    'type Pan { ▲__a: Int }',
    'Name "__a" must not begin with "__", which is reserved by GraphQL introspection.',
  ],
  [
    'a field of Node with another type',
    'type P implements Node @record { id: ▲Int! }',
    'Interface field Node.id expects type ID! but P.id is type Int!.',
  ],

  [
    'a name that is derived from a kind',
    'type Pan implements Node @record { a: Int }\ninput ▲PanFilterInput { a: Int }',
    'Expected another name: the type "PanFilterInput" is derived from the records.',
  ],
  [
    'a name that is always derived',
    'enum ▲SortOrderEnum { UP }',
    'Expected another name: the type "SortOrderEnum" is derived from the records.',
  ],
  [
    'a kind that another derives a name for',
    'type Pan implements Node @record { a: Int }\ntype ▲PanGroup implements Node @record { a: Int }',
    'Expected another name: the type "PanGroupConnection" is derived for Pan already.',
  ],
  [
    'a kind whose derived name every contract has',
    'type ▲Group implements Node @record { a: Int }',
    'Expected another name: the type "GroupSortInput" is derived for all kinds already.',
  ],
  [
    'an extension of a derived type',
    'extend enum ▲KettleFieldsEnum { a }',
    'Expected an extension of a written type: the type "KettleFieldsEnum" is derived from the records.',
  ],
  [
    'a query that is derived',
    'extend type Query { ▲allKettle: Int }',
    'Field "Query.allKettle" can only be defined once.',
  ],
  ['the root type', 'type ▲Query { a: Int }', 'Expected "extend type Query": type Query itself is derived.'],
  [
    'a type of mutations',
    'type ▲Mutation { a: Int }',
    'Expected a read-only schema, with Query alone; received the reserved name "Mutation".',
  ],
  [
    'a schema definition',
    '▲schema { query: Query }',
    'Expected no schema definition: the one operation type is Query, which is derived.',
  ],
  ['a query', '▲query { a }', 'Expected the definition of a type, directive or extension; received a query.'],

  ['a kind that is no Node', 'type ▲Pan @record { a: Int }', 'Expected "type Pan implements Node", as @record asks.'],
  [
    'a Node that is no kind',
    'type ▲Pan implements Node { id: ID! parent: Node children: [Node!]! internal: Internal! }',
    'Expected @record on Pan, for it implements Node.',
  ],
  [
    'a source of what is no kind',
    'type Pan ▲@source(glob: "*") { a: Int }',
    'Expected @source on a @record type; Pan is none.',
  ],
  [
    'a source on an extension',
    'extend type Kettle ▲@source(glob: "*.md") { a: Int }',
    'Expected @source where the type is defined; received it on an extension.',
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
  [
    'a kind in small letters',
    'type ▲pan implements Node @record { a: Int }',
    'Expected the name of a kind to begin with a capital; received "pan".',
  ],
  [
    'kinds that differ in capitals alone',
    'type Pan implements Node @record { a: Int }\ntype ▲PAN implements Node @record { a: Int }',
    'Expected a name whose query "pAN" is free; Pan has it.',
  ],
  [
    'fields that differ in capitals alone',
    'type Pan implements Node @record { size: Int ▲Size: Int }',
    'Expected a name that differs by more than capitals; "Size" is taken by Pan.size.',
  ],
  [
    'the column of the order',
    'type Pan implements Node @record { ▲position: Int }',
    'Expected a name that differs by more than capitals; "position" is taken by the order of records.',
  ],
  [
    'a name that looks like a path',
    'type Pan implements Node @record { ▲a___b: Int }',
    'Expected a name without "___", which joins the steps of a path; received "a___b".',
  ],

  [
    'a scalar that no column holds',
    'scalar Blob\ntype Pan implements Node @record { a: ▲Blob }',
    'Expected a type that a record can store: Boolean, Date, Float, ID, Int, String, an enum or an object; received Blob.',
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
    'an object without an end',
    'type Pan implements Node @record { a: Lid }\ntype ▲Lid { lid: Lid }',
    'Expected an object that ends; Lid contains itself.',
  ],
  [
    'a kind that nothing leads to',
    'type Pan implements Node @record { a: ▲Pan }',
    'Expected @link or @child on a field that leads to the kind Pan.',
  ],
  [
    'a kind inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { ▲pan: Pan }',
    'Expected a scalar, an enum or an object; Pan is a kind of record.',
  ],
  [
    'arguments of a stored field',
    'type Pan implements Node @record { ▲a(b: Int): Int }',
    'Expected no arguments: only @computed fields take them, and dates by @dateformat.',
  ],

  [
    '@dateformat on text',
    'type Pan implements Node @record { a: String ▲@dateformat }',
    'Expected @dateformat on a field of type Date; received String.',
  ],
  [
    '@dateformat beside arguments',
    'type Pan implements Node @record { a(b: Int): Date @computed ▲@dateformat }',
    'Expected no arguments in writing: @dateformat brings those of a date.',
  ],
  [
    '@index on a list',
    'type Pan implements Node @record { a: [Int] ▲@index }',
    'Expected @index on a stored field of one value; received [Int].',
  ],
  [
    '@computed inside an object',
    'type Pan implements Node @record { a: Lid }\ntype Lid { a: Int ▲@computed }',
    'Expected @computed on a field of a @record type; Lid is none.',
  ],
  [
    '@computed that needs what is not stored',
    'type Pan implements Node @record { a: Int ▲@computed(needs: ["b"]) }',
    'Expected "needs" to name stored fields of Pan; received "b".',
  ],
  [
    'two sources of one value',
    'type Pan implements Node @record { a: Int @alias(of: "b") ▲@computed b: Int }',
    'Expected one of @alias, @child, @computed, @link; received @alias and @computed.',
  ],
  [
    '@alias of nothing',
    'type Pan implements Node @record { a: Int ▲@alias(of: "b") }',
    'Expected @alias of a stored field of Pan with the type Int; received "b".',
  ],
  [
    '@alias of another type',
    'type Pan implements Node @record { a: Int ▲@alias(of: "b") b: [Int] }',
    'Expected @alias of a stored field of Pan with the type Int; received "b" with the type [Int].',
  ],
  [
    '@alias that promises a value where none may be',
    'type Pan implements Node @record { a: Int! ▲@alias(of: "b") b: Int }',
    'Expected @alias of a stored field of Pan with the type Int!; received "b" with the type Int.',
  ],
  [
    '@child that must be there',
    'type Pan implements Node @record { a: ▲Pan! @child }',
    'Expected Pan, for there may be none; received Pan!.',
  ],
  [
    '@child that is no kind',
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
    '@link that must be there',
    'type Pan implements Node @record { a: ▲Pan! @link }',
    'Expected Pan, for the record that a link names may be missing; received Pan!.',
  ],
  [
    '@link to what is no kind',
    'type Pan implements Node @record { a: ▲[Int] @link }',
    'Expected a @record type; received [Int].',
  ],
  [
    '@link of text to numbers',
    'type Pan implements Node @record { a: Pan ▲@link(to: "b") b: Int }',
    'Expected "to" to name a field that holds text, as the keys are; "b" holds numbers.',
  ],
  [
    '@link of numbers to the id that is meant by default',
    'type Pan implements Node @record { a: Pan ▲@link(from: "b") b: Int }',
    'Expected "to" to name a field that holds numbers, as the keys are; "id" holds text.',
  ],
  [
    'a list of @link from one value',
    'type Pan implements Node @record { a: [Pan!]! ▲@link(from: "b") b: ID }',
    'Expected "from" to name a stored field of Pan with a list of values; received "b".',
  ],
  [
    'one @link from a list',
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
    'Expected @link on a field of a @record type; Lid is none.',
  ],
];

const KIND = '\ntype Kettle implements Node @record { litres: Int }';

describe('a mistake in the site contract', () => {
  test.each(mistakes)('is reported where it is: %s', (_reason, marked, message) => {
    const before = marked.slice(0, marked.indexOf('▲')).split('\n');
    const text = marked.replace('▲', '') + KIND;
    const place = { file: 'schema/kitchen.graphql', line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    expect(mistakesIn(documentsWith(text))).toContainEqual({ ...place, message });
  });

  test('is the only one reported when it is the only one', () => {
    const texts = mistakes.filter(([reason]) => reason !== 'two sources of one value').map(([, text]) => text);
    const counts = texts.map((text) => mistakesIn(documentsWith(text.replace('▲', '') + KIND)).length);
    expect(texts.filter((_text, index) => counts[index] !== 1)).toEqual([]);
  });

  test('does not hide the others, of any document', () => {
    const documents = documentsWith('type Pan { size: Itn lid: Lidd }\ntype KettleEdge { a: Int }' + KIND);
    documents.set('schema/attic.graphql', 'type Box { a: Int @clean }');
    expect(mistakesIn(documents).map(({ file, line, column }) => [file, line, column])).toEqual([
      ['schema/attic.graphql', 1, 19],
      ['schema/kitchen.graphql', 1, 18],
      ['schema/kitchen.graphql', 1, 27],
      ['schema/kitchen.graphql', 2, 6],
    ]);
  });

  test('is not seen where there is none', () => {
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
    expect(mistakesIn(documentsWith(text))).toEqual([]);
  });

  test('of syntax is found in every document', () => {
    const documents = documentsWith('type Pan {').set('schema/attic.graphql', 'tipe Box');
    expect(mistakesIn(documents).map(({ file }) => file)).toEqual(['schema/attic.graphql', 'schema/kitchen.graphql']);
  });

  test('is a contract without what the derived types stand on', () => {
    expect(mistakesIn(new Map([['schema/a.graphql', '# Nothing yet.']])).map(({ message }) => message)).toEqual([
      'Expected the documents to define "scalar Date"; none does.',
      'Expected the documents to define "interface Node"; none does.',
      'Expected the documents to define "type PageInfo"; none does.',
      'Expected at least one type marked @record; there is none.',
    ]);
  });
});
