import { readFileSync } from 'node:fs';
import { deriveFullSchema, getDerivation } from '@trellis/codegen/site/load-schema';
import type { ComputedField, RecordField, RecordTable } from '@trellis/core/record-types';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { findRepeatableDocuments, repeatable, type RepeatableDocuments } from '@trellis/site/graphql/repeatable';
import { bind } from '@trellis/site/graphql/selection';
import { buildExecutableSchema } from '@trellis/site/graphql/site-schema';
import { createFormatDate } from '@trellis/site/query/dates';
import type { ComputedValues, RecordSort } from '@trellis/site/query/record-queries';
import type { RecordStore } from '@trellis/site/record-store';
import type { RecordTables } from '@trellis/site/records/record-schema';
import fc from 'fast-check';
import { getOperationAST, graphql, type GraphQLSchema, isEnumType, parse, validate } from 'graphql';
import { Evaluator, type Plain, type World } from '../../packages/site/tests/query/evaluator.js';
import {
  bySchema,
  filtersOf,
  groupSorts,
  hasText,
  pages,
  sortsOf,
} from '../../packages/site/tests/query/query-arbitraries.js';
import { fill, storeOf, worldsOf } from '../../packages/site/tests/query/world.js';
import { records } from '../../src/generated/site/records.js';
import type { SiteContext } from '../../src/resolvers/context.js';
import { resolvers as builtInResolvers } from '../../src/resolvers/schema.js';
import { computeAny } from '../site/query/compute-any.js';
import { buildSiteSchema } from './site-schema.js';

/** The number of queries to compare: `QUERIES=10000 npm test -- tests/resolvers/random-queries.test.ts`. */
const QUERIES = Number(process.env.QUERIES ?? 300);
const QUERIES_OF_A_WORLD = 10;

/** Each takes two worlds of its own. */
const RUNS = Math.ceil(QUERIES / 2);

type Resolvers = Parameters<typeof findRepeatableDocuments>[0]['resolvers'];

/** A contract whose queries are compared. */
interface Contract {
  readonly tables: RecordTables;
  readonly schema: GraphQLSchema;
  readonly store: RecordStore;
  /** Whether queries select all fields of records, also computed ones. */
  readonly selectsAll: boolean;
  readonly repeatable: RepeatableDocuments;
}

function builtIn(): Contract {
  const schema = buildSiteSchema();
  // The resolvers of files and images need a site.
  bind(schema, { tables: records, computedFor: () => computedOf(records) });
  const documents = findRepeatableDocuments({
    schema,
    resolvers: builtInResolvers as object as Resolvers,
    tables: records,
  });
  return { tables: records, schema, store: storeOf({}, records), selectsAll: false, repeatable: documents };
}

/** Scalars are available synchronously, objects are not. */
const computedOf = (tables: RecordTables): ComputedValues => ({
  find: (kind, field, record) => {
    const value = computeAny(tables, kind, field, record);
    return typeof value === 'object' && value !== null ? undefined : value;
  },
  load: (kind, field, found) => Promise.resolve(found.map((record) => computeAny(tables, kind, field, record))),
});

/** Derives the contract as the generator does. Some resolvers of computed fields return a promise. */
function dense(): Contract {
  const files = ['schema/directives.graphql', 'schema/node.graphql', 'tests/resolvers/dense-kinds.graphql'];
  const { contract, sdl } = getDerivation(
    deriveFullSchema(new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))),
  );
  const tables = Object.fromEntries(contract.tables.map((table) => [table.kind, table]));
  const resolverOf = (kind: string, { path, fields }: ComputedField) => {
    const compute = (record: Plain): unknown => computeAny(tables, kind, path, record);
    return repeatable(fields.length > 0 ? (record: Plain) => Promise.resolve(compute(record)) : compute, []);
  };
  const resolvers = Object.fromEntries(
    contract.tables.map(({ kind, fields }) => [
      kind,
      Object.fromEntries(fields.flatMap((one) => (one.kind === 'computed' ? [[one.name, resolverOf(kind, one)]] : []))),
    ]),
  );
  const schema = buildExecutableSchema({ tables, typeDefs: sdl, resolvers });
  const documents = findRepeatableDocuments({ schema, resolvers: resolvers as object as Resolvers, tables });
  return { tables, schema, store: storeOf({}, tables), selectsAll: true, repeatable: documents };
}

interface Question {
  readonly table: RecordTable;
  readonly filter: Plain;
  readonly sort: RecordSort;
  readonly page: { readonly skip?: number; readonly limit?: number };
  readonly field: string;
  readonly groupSort: { readonly by: 'VALUE' | 'COUNT'; readonly order: 'ASC' | 'DESC' } | undefined;
  readonly groupPage: { readonly skip?: number; readonly limit?: number };
}

function questionsOf(table: RecordTable, { tables, schema }: Contract): fc.Arbitrary<Question> {
  const paths = membersOf(`${table.kind}FieldsEnum`, schema).map((member) => member.replaceAll('___', '.'));
  return fc.record({
    table: fc.constant(table),
    filter: filtersOf(tables, table, bySchema),
    sort: sortsOf(paths),
    page: pages,
    field: fc.constantFrom(...paths.filter((path) => hasText(tables, table.fields, path))),
    groupSort: groupSorts,
    groupPage: pages,
  });
}

const membersOf = (name: string, schema: GraphQLSchema): string[] => {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`No enum named ${name}.`);
  return type.getValues().map((value) => value.name);
};

/** All arguments are variables, so that one document per record type serves all queries. */
function documentOf(table: RecordTable, selected: readonly RecordField[], { schema }: Contract): string {
  const { kind, single, all } = table;
  const fields = selected.map(selectionOf);
  const args = schema.getQueryType()?.getFields()[single]?.args ?? [];
  const declared = args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  return `
    query one(${declared}) { ${single}(${args.map(({ name }) => `${name}: $${name}`).join(', ')}) { id } }
    query many(
      $filter: ${kind}FilterInput, $sort: ${kind}SortInput, $skip: Int, $limit: Int
      $field: ${kind}FieldsEnum!, $groupSort: GroupSortInput, $groupSkip: Int, $groupLimit: Int
    ) {
      ${all}(filter: $filter, sort: $sort, skip: $skip, limit: $limit) {
        totalCount
        pageInfo { currentPage hasNextPage hasPreviousPage itemCount pageCount perPage totalCount }
        nodes { id ${fields.join(' ')} }
        edges { next { id } node { id } previous { id } }
        distinct(field: $field)
        group(field: $field, sort: $groupSort, skip: $groupSkip, limit: $groupLimit) {
          field fieldValue totalCount nodes { id }
        }
      }
    }`;
}

const selectedOf = ({ fields }: RecordTable, selectsAll: boolean): readonly RecordField[] =>
  selectsAll ? fields : fields.filter(({ kind }) => kind === 'relation');

const selectionOf = (field: RecordField): string => {
  if (field.kind === 'relation') return `${field.name} { id }`;
  const inner = 'fields' in field ? field.fields.map(selectionOf) : [];
  return inner.length === 0 ? field.name : `${field.name} { ${inner.join(' ')} }`;
};

const formatDate = createFormatDate();

interface Request {
  readonly source: string;
  readonly operationName: string;
  readonly variableValues: Plain;
}

async function ask(request: Request, { schema, store }: Contract): Promise<unknown> {
  const budget = new OperationBudget({ values: 1e6, workMs: 60_000, timeoutMs: 60_000 });
  const contextValue = { records: store, budget, formatDate } as unknown as SiteContext;
  const { data, errors } = await graphql({ schema, ...request, contextValue });
  if (errors) throw errors[0]!;
  return Object.values(JSON.parse(JSON.stringify(data)) as Plain)[0];
}

const inSchema = (path: string): string => path.replaceAll('.', '___');

function variablesOf({ filter, sort, page, field, groupSort, groupPage }: Question): Plain {
  return {
    ...{ filter, ...page, groupSort, groupSkip: groupPage.skip, groupLimit: groupPage.limit },
    sort: { ...sort, fields: sort.fields?.map((path) => path && inSchema(path)) },
    field: inSchema(field),
  };
}

/** Returns the result of the reference evaluator. */
function expected(
  { table, filter, sort, page, field, groupSort, groupPage }: Question,
  world: World,
  { tables, selectsAll }: Pick<Contract, 'tables' | 'selectsAll'>,
) {
  const evaluator = new Evaluator(tables, world, (kind, name, record) => computeAny(tables, kind, name, record));
  const { kind } = table;
  const totalCount = evaluator.page(kind, { filter }).length;
  const found = evaluator.page(kind, { filter, sort, ...page });
  const idAt = (place: number): Plain | null => (found[place] ? { id: found[place].id } : null);
  return {
    totalCount,
    pageInfo: pageInfoOf(totalCount, page),
    nodes: found.map((record) => ({ id: record.id, ...shownOf(evaluator, table, record, { tables, selectsAll }) })),
    edges: found.map((_, place) => ({ next: idAt(place + 1), node: idAt(place), previous: idAt(place - 1) })),
    distinct: evaluator.distinct(kind, found, field),
    group: evaluator.groups(kind, found, field, groupSort).map(([fieldValue, ids]) => ({
      field,
      fieldValue,
      totalCount: ids.length,
      nodes: cut(ids, groupPage).map((id) => ({ id })),
    })),
  };
}

const cut = <T>(list: readonly T[], { skip = 0, limit }: Question['page']): readonly T[] =>
  list.slice(skip, limit === undefined ? undefined : skip + limit);

function shownOf(
  evaluator: Evaluator,
  table: RecordTable,
  record: Plain,
  { tables, selectsAll }: Pick<Contract, 'tables' | 'selectsAll'>,
): Plain {
  const show = (field: RecordField): unknown => {
    if (field.kind === 'relation') return toObjects(evaluator.related(table.kind, record, field));
    if (field.kind === 'computed') return shapeOf(field, computeAny(tables, table.kind, field.path, record), table);
    return shapeOf(field, record[field.kind === 'scalar' ? field.column : field.name], table);
  };
  return Object.fromEntries(selectedOf(table, selectsAll).map((field) => [field.name, show(field)]));
}

/** Only records of files keep an object without values; otherwise it is its columns. */
function shapeOf(field: RecordField, value: unknown, table: RecordTable): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((one) => shapeOf(field, one, table));
  if (field.kind === 'relation' || field.kind === 'scalar' || field.fields.length === 0) return value;
  return Object.fromEntries(field.fields.map((one) => [one.name, shapeOf(one, (value as Plain)[one.name], table)]));
}

const toObjects = (ids: unknown): unknown =>
  Array.isArray(ids) ? ids.map(toObjects) : ids === null ? null : { id: ids };

/** Computes the page information by the formulas in the documentation. */
function pageInfoOf(n: number, { skip = 0, limit }: Question['page']): Plain {
  const pagesBefore = limit ? Math.ceil(skip / limit) : Math.min(skip, 1);
  return {
    currentPage: pagesBefore + 1,
    hasNextPage: limit ? skip + limit < n : false,
    hasPreviousPage: pagesBefore > 0,
    itemCount: Math.max(0, Math.min(n - skip, limit ?? Infinity)),
    pageCount: limit ? pagesBefore + Math.ceil((n - skip) / limit) : pagesBefore + 1,
    perPage: limit ?? null,
    totalCount: n,
  };
}

/** The query of one record supports conditions on fields only. */
const withoutCombiners = (filter: Plain): Plain =>
  Object.fromEntries(Object.entries(filter).filter(([name]) => name !== 'or' && name !== 'not'));

describe.each([
  ['built-in record types', builtIn],
  ['record types of a site with many optional values', dense],
])('%s', (_, open) => {
  let contract: Contract;
  beforeAll(() => (contract = open()));
  afterAll(() => contract.store.close());

  test(`${QUERIES} random queries give the same results as the reference evaluator`, async () => {
    const { tables, store } = contract;
    const kinds = Object.values(tables);
    const documents = new Map(
      kinds.map((table) => [table.kind, documentOf(table, selectedOf(table, contract.selectsAll), contract)]),
    );
    const questions = fc.oneof(...kinds.map((table) => questionsOf(table, contract)));
    const asked = fc.array(questions, { minLength: QUERIES_OF_A_WORLD, maxLength: QUERIES_OF_A_WORLD });
    await fc.assert(
      fc.asyncProperty(worldsOf(tables, 6), asked, async (world, several) => {
        fill(store, world, tables);
        for (const question of several) {
          const source = documents.get(question.table.kind)!;
          const many = { source, operationName: 'many', variableValues: variablesOf(question) };
          expect(await ask(many, contract)).toEqual(expected(question, world, contract));
          const filter = withoutCombiners(question.filter);
          const one = await ask({ source, operationName: 'one', variableValues: filter }, contract);
          const [first] = expected({ ...question, filter, sort: {}, page: {} }, world, contract).edges;
          expect(one ?? undefined).toEqual(first?.node);
        }
      }),
      { numRuns: Math.ceil(QUERIES / QUERIES_OF_A_WORLD) },
    );
  }, 3_600_000);

  test('a response changes only with the record types that it is kept for', async () => {
    const { tables, store, schema, repeatable: documents } = contract;
    const kinds = Object.values(tables);
    // Any record may be a parent or a child.
    const fieldsOf = ({ fields }: RecordTable) =>
      fields.filter((field) => field.kind === 'relation' && field.type !== 'Node');
    const asked = fc.constantFrom(...kinds).chain((table) => {
      const [fields, others] = [fieldsOf(table), kinds.filter((one) => one !== table)];
      return fc.tuple(
        questionsOf(table, contract),
        fc.subarray(fields, { maxLength: Math.min(1, fields.length) }),
        fc.constantFrom(...others.map(({ kind }) => kind)),
      );
    });
    let unaffected = 0;
    await fc.assert(
      fc.asyncProperty(
        worldsOf(tables, 6),
        worldsOf(tables, 6),
        asked,
        async (world, other, [question, fields, changed]) => {
          const source = documentOf(question.table, fields, contract);
          const request = { source, operationName: 'many', variableValues: variablesOf(question) };
          const document = parse(source);
          expect(validate(schema, document, [documents.rule])).toEqual([]);
          const operation = getOperationAST(document, 'many')!;
          const reads = documents.kindsOf(document, operation, request.variableValues);
          if (!reads || reads.includes(changed)) return;
          fill(store, world, tables);
          const before = await ask(request, contract);
          fill(store, { ...world, [changed]: other[changed] ?? [] }, tables);
          expect(await ask(request, contract)).toEqual(before);
          unaffected += 1;
        },
      ),
      { numRuns: RUNS },
    );
    expect(unaffected).toBeGreaterThan(0);
  }, 3_600_000);
});

test.each([
  ['Article', 'tagged.taggedOn.several.slug', 'ASC'],
  ['Author', 'taggedOn.several.severalOf.tags', 'DESC'],
  // Nobody wrote the articles.
  ['Author', 'taggedOn.author.articles.tags', 'DESC'],
] as const)(
  'a list or record that is missing leaves no gap in the list of values around it: %s by %s',
  async (kind, path, order) => {
    const contract = dense();
    const article = (place: number, tags: readonly string[]): Plain => ({
      ...{ id: `Article${place}`, slug: `${place}`, tags },
      internal: { contentDigest: '', owner: '', type: '' },
    });
    const author = (place: number, name: string): Plain => ({
      ...{ id: `Author${place}`, name },
      internal: { contentDigest: '', owner: '', type: '' },
    });
    // No article has "several", and nobody is tagged "y".
    const world = {
      Article: [article(0, ['x']), article(1, []), article(2, ['x'])],
      Author: [author(0, 'y'), author(1, 'x')],
    };
    fill(contract.store, world, contract.tables);
    const table = contract.tables[kind]!;
    const question = {
      ...{ table, filter: {}, page: {}, field: 'id', groupSort: undefined, groupPage: {} },
      sort: { fields: [path], order: [order] },
    };
    const source = documentOf(table, selectedOf(table, true), contract);
    const found = await ask({ source, operationName: 'many', variableValues: variablesOf(question) }, contract);
    expect(found).toEqual(expected(question, world, contract));
    contract.store.close();
  },
);
