import { ContractError } from '../../src/documents.js';
import { deriveFullSchema } from '../../src/site/load-schema.js';
import { generateQueries } from '../../src/site/queries-preset.js';
import { documentsWith } from './documents.js';

const schema = deriveFullSchema(
  documentsWith('enum State { DRY WET }\ntype Plant implements Node @record { name: String! sown: Date state: State }'),
);

const generate = (documents: Readonly<Record<string, string>>) =>
  generateQueries(schema, new Map(Object.entries(documents)), '#typed-query');

async function listErrors(documents: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const failure: unknown = await generate(documents).catch((error: unknown) => error);
  if (!(failure instanceof ContractError)) throw new Error('Expected errors in the queries.', { cause: failure });
  return failure.diagnostics.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
}

const LIST = `query Plants($filter: PlantFilterInput, $limit: Int!) {
  allPlant(filter: $filter, limit: $limit) {
    nodes { ...Entry }
  }
}
`;
const ENTRY = 'fragment Entry on Plant {\n  name\n  sown\n}\n';

test('a document becomes a constant with its types and with the fragments of other documents', async () => {
  const text = await generate({ 'queries/plants.graphql': LIST, 'queries/parts/entry.graphql': ENTRY });
  expect(text).toContain("import type { TypedQuery } from '#typed-query';");
  expect(text).toContain('export const PlantsDocument = `query Plants(');
  expect(text).toMatch(
    /\nfragment Entry on Plant \{\n {2}name\n {2}sown\n\}` as TypedQuery<PlantsQuery, PlantsQueryVariables>;/,
  );
  expect(text).toMatch(/filter\?: PlantFilterInput \| null \| undefined;\s+limit: number;/);
  expect(text).toContain('readonly name: string, readonly sown: string | null');
});

test('a query in code is typed by its text', async () => {
  const query = '\n  query Plant($id: String!) {\n    plant(id: { eq: $id }) {\n      state\n    }\n  }\n';
  const text = await generate({
    'src/plant.ts': `const PLANT = graphql(\`${query}\`);\n`,
    'src/other.ts': 'const a = `x`;\n',
  });
  expect(text).toContain(
    `export function graphql(query: '${query.replaceAll('\n', '\\n')}'): TypedQuery<PlantQuery, PlantQueryVariables>;`,
  );
  expect(text).toContain(`Run "npm run generate": this query has no types yet.`);
  expect(text).not.toContain('PlantDocument');
});

test('a query in code with the line ends of Windows has the text that the program sees', async () => {
  const text = await generate({ 'src/plant.ts': 'graphql(`query A {\r\n  plant { name }\r\n}`);\r\n' });
  expect(text).toContain("export function graphql(query: 'query A {\\n  plant { name }\\n}'): ");
});

test('a query in the form of Gatsby has a hint', async () => {
  const query = 'query A { allPlant(sort: { sown: DESC }) { nodes { name } } }';
  expect(await listErrors({ 'a.graphql': query })).toEqual([
    'a.graphql:1:28 Field "sown" is not defined by type "PlantSortInput". Trellis has the form of Gatsby 4: sort: {fields: [sown], order: [DESC]}.',
  ]);
});

test.each([
  ['get_plants', 'Get_Plants'],
  ['_latest', '_Latest'],
  ['__a__b_', '__A__B_'],
  ['HTMLPlants', 'HTMLPlants'],
])('the types and the constant of the query %s start with %s', async (query, name) => {
  const text = await generate({ 'queries/a.graphql': `query ${query} { plant { name } }` });
  expect(text).toContain(`export const ${name}Document = `);
  expect(text).toContain(` as TypedQuery<${name}Query, ${name}QueryVariables>;`);
  expect(text).toContain(`export type ${name}Query = `);
  expect(text).toContain(`export type ${name}QueryVariables = `);
});

test('queries in code may repeat a fragment, which has one type', async () => {
  const list = `query Plants { allPlant { nodes { ...Entry } } }\n${ENTRY}`;
  const one = `query Plant { plant { ...Entry } }\n${ENTRY}`;
  const text = await generate({
    'queries/entry.graphql': ENTRY,
    'src/a.ts': `graphql(\`${list}\`); graphql(\`${one}\`);`,
  });
  expect(text.match(/export type EntryFragment =/gu)).toHaveLength(1);
  expect(text).toMatch(/export type PlantsQuery = .*readonly name: string.*readonly sown: string/u);
  expect(text).toMatch(/export type PlantQuery = .*readonly name: string.*readonly sown: string/u);
});

test('a project without queries gets a file without any', async () => {
  expect(await generate({})).not.toContain('export const');
});

test.each<[string, Record<string, string>, string[]]>([
  [
    'an unknown field of a document',
    { 'queries/a.graphql': 'query A {\n  allPlant {\n    nodes { nam }\n  }\n}' },
    ['queries/a.graphql:3:13 Cannot query field "nam" on type "Plant". Did you mean "name"?'],
  ],
  [
    'an unknown field in code',
    { 'src/a.tsx': 'const A = 1;\nexport const B = graphql(`query B { allPlant { nodes { nam } } }`);' },
    ['src/a.tsx:2:56 Cannot query field "nam" on type "Plant". Did you mean "name"?'],
  ],
  [
    'a syntax error in code',
    { 'src/a.ts': '\n\n  graphql(`query A {\n    plant(`);' },
    ['src/a.ts:4:11 Syntax Error: Expected Name, found <EOF>.'],
  ],
  [
    'a value in code',
    { 'src/a.ts': 'graphql(`query A { plant(id: ${id}) { name } }`);' },
    ['src/a.ts:1:10 Expected a query without ${…} and backslashes: use variables instead.'],
  ],
  [
    'an operation without a name',
    { 'queries/a.graphql': '{ allPlant { totalCount } }' },
    ['queries/a.graphql:1:1 Expected a name after "query", which names the generated types.'],
  ],
  [
    'the same name in two places',
    {
      'queries/a.graphql': 'query A { allPlant { totalCount } }',
      'src/a.ts': 'graphql(`query A { allPlant { totalCount } }`)',
    },
    ['src/a.ts:1:16 The operation "A" is already declared in queries/a.graphql:1.'],
  ],
  [
    'a query with the name of an imported type',
    { 'queries/a.graphql': 'query typed { allPlant { totalCount } }' },
    ['queries/a.graphql:1:7 The name "Typed" is reserved: the generated file imports TypedQuery.'],
  ],
  [
    'different fragments with one name',
    {
      'queries/entry.graphql': ENTRY,
      'src/a.ts': 'graphql(`query A { plant { ...Entry } } fragment Entry on Plant { id }`)',
    },
    ['src/a.ts:1:50 A different fragment "Entry" is declared in queries/entry.graphql:1. Rename one.'],
  ],
  [
    'a fragment of a document in code',
    { 'queries/entry.graphql': ENTRY, 'src/a.ts': 'graphql(`query A { allPlant { nodes { ...Entry } } }`)' },
    ['src/a.ts:1:42 Unknown fragment "Entry".'],
  ],
  [
    'a variable of the wrong type',
    { 'queries/a.graphql': 'query A($limit: String) { allPlant(limit: $limit) { totalCount } }' },
    ['queries/a.graphql:1:44 Variable "$limit" of type "String" used in position expecting type "Int".'],
  ],
])('%s is reported at its line', async (_what, documents, errors) => {
  expect(await listErrors(documents)).toEqual(errors);
});
