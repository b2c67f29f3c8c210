import { readFileSync } from 'node:fs';
import type { RecordTable, RelationField } from '@trellis/core/record-types';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { bind } from '@trellis/site/graphql/selection';
import type { ComputedValues, RecordSort } from '@trellis/site/query/record-queries';
import fc from 'fast-check';
import { buildSchema, graphql, isEnumType } from 'graphql';
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
import { computeAny } from '../site/query/compute-any.js';
import { buildSiteSchema } from './site-schema.js';

/** The number of queries to compare: `QUERIES=10000 npm test -- tests/resolvers/random-queries.test.ts`. */
const QUERIES = Number(process.env.QUERIES ?? 300);
const QUERIES_OF_A_WORLD = 10;

const schema = buildSiteSchema();
bind(schema, { tables: records, computedFor: () => computed });
const published = buildSchema(
  readFileSync(new URL('../../src/generated/site/schema.graphql', import.meta.url), 'utf8'),
);
const tables: readonly RecordTable[] = Object.values(records);
const store = storeOf({}, records);
afterAll(() => store.close());

interface Question {
  readonly table: RecordTable;
  readonly filter: Plain;
  readonly sort: RecordSort;
  readonly page: { readonly skip?: number; readonly limit?: number };
  readonly field: string;
  readonly groupSort: { readonly by: 'VALUE' | 'COUNT'; readonly order: 'ASC' | 'DESC' } | undefined;
  readonly groupPage: { readonly skip?: number; readonly limit?: number };
}

function questionsOf(table: RecordTable): fc.Arbitrary<Question> {
  const paths = membersOf(`${table.kind}FieldsEnum`).map((member) => member.replaceAll('___', '.'));
  return fc.record({
    table: fc.constant(table),
    filter: filtersOf(records, table, bySchema),
    sort: sortsOf(paths),
    page: pages,
    field: fc.constantFrom(...paths.filter((path) => hasText(records, table.fields, path))),
    groupSort: groupSorts,
    groupPage: pages,
  });
}

const membersOf = (name: string): string[] => {
  const type = published.getType(name);
  if (!isEnumType(type)) throw new Error(`No enum named ${name}.`);
  return type.getValues().map((value) => value.name);
};

const relationsOf = ({ fields }: RecordTable): RelationField[] =>
  fields.filter((field): field is RelationField => field.kind === 'relation');

/** All arguments are variables, so that one document per record type serves all queries. */
function documentOf(table: RecordTable): string {
  const { kind, single, all } = table;
  const relations = relationsOf(table).map(({ name }) => `${name} { id }`);
  const args = published.getQueryType()?.getFields()[single]?.args ?? [];
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
        nodes { id ${relations.join(' ')} }
        edges { next { id } node { id } previous { id } }
        distinct(field: $field)
        group(field: $field, sort: $groupSort, skip: $groupSkip, limit: $groupLimit) {
          field fieldValue totalCount nodes { id }
        }
      }
    }`;
}

const documents = new Map(tables.map((table) => [table.kind, documentOf(table)]));

/** Scalars are available synchronously, objects are not. */
const computed: ComputedValues = {
  find: (kind, field, record) => {
    const value = computeAny(records, kind, field, record);
    return typeof value === 'object' && value !== null ? undefined : value;
  },
  load: (kind, field, found) => Promise.resolve(found.map((record) => computeAny(records, kind, field, record))),
};

async function ask({ kind }: RecordTable, operationName: string, variableValues: Plain): Promise<unknown> {
  const budget = new OperationBudget({ values: 1e6, workMs: 60_000, timeoutMs: 60_000 });
  const contextValue = { records: store, budget } as unknown as SiteContext;
  const { data, errors } = await graphql({
    schema,
    source: documents.get(kind)!,
    operationName,
    variableValues,
    contextValue,
  });
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
function expected({ table, filter, sort, page, field, groupSort, groupPage }: Question, world: World) {
  const evaluator = new Evaluator(records, world, (kind, name, record) => computeAny(records, kind, name, record));
  const { kind } = table;
  const totalCount = evaluator.page(kind, { filter }).length;
  const found = evaluator.page(kind, { filter, sort, ...page });
  const idAt = (place: number): Plain | null => (found[place] ? { id: found[place].id } : null);
  return {
    totalCount,
    pageInfo: pageInfoOf(totalCount, page),
    nodes: found.map((record) => ({ id: record.id, ...relatedOf(evaluator, table, record) })),
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

const relatedOf = (evaluator: Evaluator, table: RecordTable, record: Plain): Plain =>
  Object.fromEntries(
    relationsOf(table).map((field) => [field.name, toObjects(evaluator.related(table.kind, record, field))]),
  );

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

test(`${QUERIES} random queries of all record types give the same results as the reference evaluator`, async () => {
  const questions = fc.oneof(...tables.map(questionsOf));
  const asked = fc.array(questions, { minLength: QUERIES_OF_A_WORLD, maxLength: QUERIES_OF_A_WORLD });
  await fc.assert(
    fc.asyncProperty(worldsOf(records, 6), asked, async (world, several) => {
      fill(store, world, records);
      for (const question of several) {
        const answer = await ask(question.table, 'many', variablesOf(question));
        expect(answer).toEqual(expected(question, world));
        const filter = withoutCombiners(question.filter);
        const one = await ask(question.table, 'one', filter);
        expect(one ?? undefined).toEqual(expected({ ...question, filter, sort: {}, page: {} }, world).edges[0]?.node);
      }
    }),
    { numRuns: Math.ceil(QUERIES / QUERIES_OF_A_WORLD) },
  );
}, 3_600_000);
