import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deriveFullSchema, getDerivation } from '@trellis/codegen/site/load-schema';
import { createResolverStubs, listResolvers } from '@trellis/codegen/site/resolvers-plugin';
import { PACKAGE } from '@trellis/codegen/targets';
import { buildSchema, type GraphQLEnumType, type GraphQLInputObjectType, type GraphQLObjectType } from 'graphql';
import ts from 'typescript';
import { COMMON_DOCUMENTS, documentsWith } from '../../../packages/codegen/tests/site/documents.js';
import { baseResolvers } from '../../../src/resolvers/fields.js';
import { generateSite } from './generate-site.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const KITCHEN = `
type Recipe implements Node @record @source(glob: "content/recipes/*.md") {
  title: String!
  cooked: Date @dateformat
  tags: [String!]!
  summary(words: Int = 20, end: String): String @computed(needs: ["title", "internal.content"])
}
type Cook implements Node @record {
  name: String!
  title: String
  age: Int! @computed
}
extend type Query {
  today: Date!
  opened: Date @dateformat
  favourite: Recipe
  recipes(filter: RecipeFilterInput): [Recipe!]!
  recipePage(sort: RecipeSortInput): RecipeConnection!
  dishes: [Dish!]!
  found: [Found!]!
  price(of: Money!): Money!
  stats: Stats!
}
union Dish = Recipe | Cook
interface Found { name: String! }
type Pantry implements Found { name: String! }
scalar Money @stored(as: "Int")
scalar Json
type Stats { count: Int! share(of: Int = 2): Float! @computed extra: Json sizes: [pan_size!] menu: Menu! }
type Menu { dishes(first: Int): [Dish!]! @computed best: Dish! }
type pan_size { litres: Int! in_cups(of_cup: Float!): Float! @computed }
extend type Recipe {
  difficulty: Difficulty
  steps: [Step!]!
  cook: Cook @link(to: "name")
  guests: [Cook!]! @link
  toast: String! @computed(needs: ["guests", "difficulty"])
}
enum Difficulty { EASY HARD }
type Step { text: String! done: Date @dateformat tools: [Tool] }
type Tool { name: String! bought: [Date!] @dateformat }
`;

/** The hand-written resolvers for the contract. */
const RESOLVERS = `
import type { SiteResolvers } from '../generated/site/resolvers.js';
const fail = (): never => {
  throw new Error('No cook.');
};
export const resolvers: SiteResolvers = {
  Recipe: {
    summary: ({ id, title, 'internal.content': content }, { words, end }) =>
      id + title + (content ?? '').split(' ').slice(0, words.valueOf()).join(' ') + (end ?? ''),
    toast: ({ guests, difficulty }) => guests + (difficulty ?? ''),
  },
  Cook: { age: async () => 40 },
  Query: {
    today: (_root, _args, { now }) => now,
    opened: () => null,
    favourite: (_root, _args, { query }, info) => query.find('Recipe', { filter: { title: { eq: 'Soup' } } }, info),
    recipes: (_root, { filter }, { query }, info) => query.list('Recipe', { filter }, info),
    recipePage: (_root, { sort }, { query }, info) => query.page('Recipe', { sort }, info),
    dishes: async (_root, _args, { query }, info) => [
      ...(await query.list('Recipe', {}, info)),
      ...(await query.list('Cook', {}, info)),
    ],
    found: () => [{ name: 'flour' }],
    price: (_root, { of }) => of.valueOf() * 2,
    stats: async (_root, _args, { query }, info) => {
      const titles = await query.values('Recipe', ['title'], {}, info);
      const [best = fail()] = await query.list('Cook', {}, info);
      return { count: titles.map(({ title }) => title).length, sizes: [{ litres: 2 }], menu: { best } };
    },
  },
  Found: { __resolveType: () => 'Pantry' },
  Money: { parse: Number, serialize: (cents) => cents.toFixed(2) },
  Json: { parse: (value) => value, serialize: (value) => value },
  Stats: { share: ({ count }, { of }) => count / of.valueOf() },
  Menu: { dishes: (_menu, { first }, { query }, info) => query.list('Cook', { limit: first?.valueOf() }, info) },
  pan_size: { in_cups: ({ litres }, { of_cup }) => litres / of_cup.valueOf() },
};
`;

const generated = await generateSite(documentsWith(KITCHEN));
const text = (file: string): string => generated.files.get(file) ?? '';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trellis-site-'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  await mkdir(path.join(folder, 'generated/site'), { recursive: true });
  await mkdir(path.join(folder, 'resolvers'));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(
    path.join(folder, 'resolvers/context.ts'),
    `import type { RecordAccess } from '@trellis/site/graphql/record-access';
export interface SiteContext<ByKind extends object> { now: string; query: RecordAccess<ByKind> }`,
  );
  for (const [file, content] of generated.files) await writeFile(path.join(folder, 'generated/site', file), content);
});
afterAll(() => rm(folder, { recursive: true }));

const COMPILER_OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  strict: true,
  customConditions: ['trellis-source'],
  verbatimModuleSyntax: true,
  noEmit: true,
  skipLibCheck: true,
};

/** The last program, from which the next one takes all files that have not changed. */
let program: ts.Program | undefined;

/** Compiles the generated files with resolvers and returns the error messages. */
function compile(resolvers: string): string[] {
  const file = path.join(folder, 'resolvers/kitchen.ts');
  const own = ts.createSourceFile(file, resolvers, { languageVersion: ts.ScriptTarget.ES2023, ...NODE_MODULE }, true);
  const previous = program;
  const files = ts.createCompilerHost(COMPILER_OPTIONS);
  const host: ts.CompilerHost = {
    ...files,
    fileExists: (name) => name === file || files.fileExists(name),
    getSourceFile: (name, ...rest) =>
      name === file ? own : (previous?.getSourceFile(name) ?? files.getSourceFile(name, ...rest)),
  };
  const roots = [file, path.join(folder, 'generated/site/records.ts')];
  program = ts.createProgram(roots, COMPILER_OPTIONS, host, previous);
  // The generated files are the same in all programs.
  const changed = previous === undefined ? undefined : own;
  return ts
    .getPreEmitDiagnostics(program, changed)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const NODE_MODULE = { impliedNodeFormat: ts.ModuleKind.ESNext } as const;

test.each(COMMON_DOCUMENTS)('the generators are tested with the %s of the application', async (name) => {
  const tested = await readFile(path.join(ROOT, 'packages/codegen/tests/site/contract', name), 'utf8');
  expect(tested).toBe(await readFile(path.join(ROOT, 'schema', name), 'utf8'));
});

describe('the generated files of a site contract', () => {
  test('compile together with the required resolvers', () => {
    expect(compile(RESOLVERS)).toEqual([]);
  });

  test.each([
    ['summary', /summary:[^]*?(?=toast)/, ''],
    ['toast', /toast: .*/, ''],
    ['age', /age: .* 40/, ''],
    ['today', /today: .* now,/, ''],
    ['__resolveType', /__resolveType: .* 'Pantry'/, ''],
    ['parse', /parse: Number,/, ''],
    ['share', /share: .*valueOf\(\)/, ''],
  ])('cause a compile error that names the missing resolver %s', (name, member, nothing) => {
    const [error, ...others] = compile(RESOLVERS.replace(member, nothing));
    expect(error).toContain(`Property '${name}' is missing`);
    expect(others).toEqual([]);
  });

  test.each([
    ['Cook.age', '  Cook: { age: async () => 40 },'],
    ['Money.parse', /Money: .*/],
    ['Found.__resolveType', /Found: .*/],
  ])('cause a compile error that names %s if its type is missing', (name, member) => {
    const wired = RESOLVERS.replace('import type { SiteResolvers }', 'import { defineResolvers }')
      .replace(': SiteResolvers = {', ' = defineResolvers({')
      .replace(/};\n$/, '});\n');
    expect(compile(wired)).toEqual([]);
    expect(compile(wired.replace(member, ''))[0]).toContain(`"${name}"`);
  });

  test('cause a compile error for a resolver that reads an undeclared column', () => {
    const [error] = compile(RESOLVERS.replace('{ id, title,', '{ id, title, cooked,'));
    expect(error).toContain("Property 'cooked' does not exist");
  });

  test('have a schema with the queries of all record types', () => {
    const query = buildSchema(text('schema.graphql')).getQueryType()?.getFields() ?? {};
    expect(Object.keys(query)).toEqual([
      ...['recipe', 'allRecipe', 'cook', 'allCook', 'today', 'opened', 'favourite'],
      ...['recipes', 'recipePage', 'dishes', 'found', 'price', 'stats'],
    ]);
  });

  test('support filters, sorting and groups by list elements and linked records', () => {
    const schema = buildSchema(text('schema.graphql'));
    const filter = schema.getType('RecipeFilterInput') as GraphQLInputObjectType;
    const types = Object.values(filter.getFields()).map(({ name, type }) => `${name}: ${String(type)}`);
    expect(types).toEqual(
      expect.arrayContaining([
        ...['steps: StepFilterListInput', 'cook: CookFilterInput', 'guests: CookFilterListInput'],
        ...['difficulty: DifficultyQueryOperatorInput', 'or: [RecipeFilterInput!]', 'not: RecipeFilterInput'],
      ]),
    );
    const members = (schema.getType('RecipeFieldsEnum') as GraphQLEnumType).getValues().map(({ name }) => name);
    expect(members).toEqual(
      expect.arrayContaining(['steps___done', 'steps___tools', 'steps___tools___bought', 'cook___name', 'guests']),
    );
  });

  test('have the arguments of dates at any depth', () => {
    const schema = buildSchema(text('schema.graphql'));
    const dates = [
      ['Step', 'done'],
      ['Tool', 'bought'],
    ].map(([type = '', field = '']) => (schema.getType(type) as GraphQLObjectType).getFields()[field]);
    for (const date of dates) {
      expect(date?.args.map(({ name }) => name)).toEqual(['difference', 'formatString', 'fromNow', 'locale']);
    }
  });

  test('have a type with the stored columns of each record type', () => {
    expect(text('records.ts')).toContain(`/** The stored columns of a Recipe record. */
export type RecipeRecord = {
  readonly title: string;
  readonly cooked: string | null;
  readonly tags: string;
  readonly id: string;
  readonly parent: string | null;
  readonly 'internal.content': string | null;
`);
    expect(text('records.ts')).toContain(`
  readonly difficulty: string | null;
  readonly steps: string;
  readonly cook: string | null;
  readonly guests: string;
};`);
  });

  test('have a type with the values that a source in code reports, for types without files', async () => {
    const made = await generateSite(
      documentsWith(`
        type Cake implements Node @record {
          name: String!
          baked: Date
          size: Size
          layers: [Layer!]!
          eaters: [Cake!] @link
          cover: File @link
          title: String @alias(of: "name")
          slices: Int! @computed
        }
        type Layer { cream: Boolean, price: Float! }
        enum Size { BIG SMALL }
        type File implements Node @record { name: String! }
        type Roll implements Node @record @source(glob: "rolls/*.md") { name: String! }
      `),
    );
    const records = made.files.get('records.ts') ?? '';
    expect(records).toContain(`/** The values of a Cake in a source (\`defineSource\`). */
export type CakeValues = {
  readonly name: string;
  readonly baked?: Date | string | null | undefined;
  readonly size?: 'BIG' | 'SMALL' | null | undefined;
  readonly layers?: readonly ({
    readonly cream?: boolean | null | undefined;
    readonly price: number;
  })[] | undefined;
  readonly eaters?: readonly (string)[] | null | undefined;
};`);
    expect(records).not.toMatch(/(File|Roll)Values/);
  });

  test('start with a banner', () => {
    for (const content of generated.files.values()) {
      expect(content).toMatch(
        /^(\/\/|#) Generated by "npm run generate" from the documents in schema\/\. Do not edit\.\n/,
      );
    }
  });

  test('do not depend on the order of the documents', async () => {
    const again = await generateSite(new Map([...documentsWith(KITCHEN)].toReversed()));
    expect([...again.files]).toEqual([...generated.files]);
  });

  test.each([
    ['Recipe', 2, 6],
    ['Recipe.title', 3, 3],
    ['cooked', 4, 3],
    ['RecipeFieldsEnum', 2, 6],
    ['RecipeFilterInput.cooked', 4, 3],
    ['CookRecord', 8, 6],
  ])('have the name %s, which comes from contract line %i', (name, line, column) => {
    expect(generated.origins().get(name)).toEqual({ file: 'schema/kitchen.graphql', line, column });
  });

  test('have origins of bare field names that only one type declares', () => {
    expect(generated.origins().get('id')?.file).toBe('schema/node.graphql');
    expect(generated.origins().has('title')).toBe(false);
  });

  test('have stubs in the file of the document for its first type, and in separate files for further types', () => {
    expect(generated.stubs.map(({ file, exportName }) => [file, exportName])).toEqual([
      ['src/resolvers/kitchen.ts', 'recipeResolvers'],
      ['src/resolvers/cook.ts', 'cookResolvers'],
      ['src/resolvers/found.ts', 'foundResolvers'],
      ['src/resolvers/money.ts', 'moneyResolvers'],
      ['src/resolvers/json.ts', 'jsonResolvers'],
      ['src/resolvers/stats.ts', 'statsResolvers'],
      ['src/resolvers/menu.ts', 'menuResolvers'],
      ['src/resolvers/pan_size.ts', 'pan_sizeResolvers'],
      ['src/resolvers/query.ts', 'queryResolvers'],
    ]);
  });

  test('have no stubs in the file with all resolvers, whatever the name of the document', () => {
    const text = 'type Boat implements Node @record { age: Int @computed }';
    const schema = deriveFullSchema(documentsWith(text, 'schema/schema.graphql'));
    const { contract } = getDerivation(schema);
    const stubs = createResolverStubs(contract.schema, listResolvers(schema, contract));
    expect(stubs.map(({ file, use }) => [file, use?.file])).toEqual([
      ['src/resolvers/boat.ts', 'src/resolvers/schema.ts'],
    ]);
  });

  test('have no stubs for members that a package has written', async () => {
    const documents = documentsWith(
      `type File implements Node @record { base: String! publicURL: String @computed }
      extend type File { shout: String! @computed(needs: ["base"]) }`,
    );
    const schema = deriveFullSchema(documents);
    const { contract } = getDerivation(schema);
    const base = PACKAGE.baseResolvers;
    const written = { File: baseResolvers.File, ImageProc: baseResolvers.ImageProc, Site: baseResolvers.Site };
    expect(base?.fields).toEqual(
      Object.fromEntries(Object.entries(written).map(([type, members]) => [type, Object.keys(members)])),
    );
    const stubs = createResolverStubs(contract.schema, listResolvers(schema, contract), base);
    expect(stubs).toEqual([
      {
        file: 'src/resolvers/kitchen.ts',
        header: `import type { SiteResolvers } from '../generated/site/resolvers.js';

export const fileResolvers: Pick<SiteResolvers['File'], 'shout'> = {
`,
        footer: '};\n',
        exportName: 'fileResolvers',
        use: {
          file: 'src/resolvers/schema.ts',
          lines: [
            "import { fileResolvers } from './kitchen.js';",
            'File: { ...baseResolvers.File, ...fileResolvers },',
          ],
        },
        members: [expect.objectContaining({ name: 'shout' })],
      },
    ]);
  });

  test('have stubs that compile', () => {
    for (const { header, members, footer } of generated.stubs) {
      expect(compile([header, ...members.map((member) => member.text), footer].join('\n'))).toEqual([]);
    }
  });
});
