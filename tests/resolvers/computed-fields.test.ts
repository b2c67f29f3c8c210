import { deriveFullSchema, getDerivation } from '@trellis/codegen/site/load-schema';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { RecordAccess } from '@trellis/site/graphql/record-access';
import { buildExecutableSchema } from '@trellis/site/graphql/site-schema';
import { createFormatDate } from '@trellis/site/query/dates';
import { openRecordStore, type RecordStore } from '@trellis/site/record-store';
import { type ExecutionResult, graphql, type GraphQLResolveInfo } from 'graphql';
import { documentsWith } from '../../packages/codegen/tests/site/documents.js';

const CONTRACT = `
  type Boat implements Node @record { name: String! fast: Int @computed(needs: ["name"]) slow: Int @computed late: Int @computed
    twins: Int @computed(needs: ["name"]) }
`;

const { sdl, contract } = getDerivation(deriveFullSchema(documentsWith(CONTRACT)));
const tables = Object.fromEntries(contract.tables.map((table) => [table.kind, table]));

interface Boat {
  readonly name: string;
}

interface Context {
  readonly query: RecordAccess<{ Boat: Boat }>;
}

/** The number of calls of each resolver. */
const calls = { fast: 0, slow: 0, late: 0 };

const resolvers = {
  Boat: {
    fast: ({ name }: Boat) => {
      calls.fast += 1;
      return name.length;
    },
    slow: () => {
      calls.slow += 1;
      const until = performance.now() + 2;
      while (performance.now() < until);
      return 1;
    },
    twins: ({ name }: Boat, _args: unknown, { query }: Context, info: GraphQLResolveInfo) => {
      const found = query.values('Boat', ['name'], { filter: { name: { eq: name } }, limit: 200 }, info);
      return found instanceof Promise ? found.then(({ length }) => length) : found.length;
    },
    late: async () => {
      calls.late += 1;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return 1;
    },
  },
};

const schema = buildExecutableSchema({ tables, typeDefs: sdl, resolvers });

let store: RecordStore;
beforeAll(() => {
  store = openRecordStore({ file: ':memory:', tables });
  store.write((writer) => {
    for (let index = 0; index < 1000; index += 1) {
      writer.put('Boat', { id: String(index), name: 'x'.repeat(index % 10), 'internal.type': 'Boat' }, index);
    }
  });
});
afterAll(() => store.close());
beforeEach(() => void Object.assign(calls, { fast: 0, slow: 0, late: 0 }));

async function ask(source: string, limits: { workMs?: number; timeoutMs?: number } = {}): Promise<ExecutionResult> {
  const budget = new OperationBudget({ values: 1e6, workMs: 20_000, timeoutMs: 60_000, ...limits });
  const context = { records: store, formatDate: createFormatDate(), budget };
  return graphql({ schema, source, contextValue: { ...context, query: new RecordAccess(context) } });
}

describe('a filter by a computed field', () => {
  test('calls the resolver once for records with the same columns, until a record changes', async () => {
    const query = '{ allBoat(filter: {fast: {gt: 4}}) { totalCount } }';
    expect(await ask(query)).toEqual({ data: { allBoat: { totalCount: 500 } } });
    expect(calls.fast).toBe(1000);
    await ask('{ allBoat(filter: {fast: {gt: 5}}) { totalCount } }');
    expect(calls.fast).toBe(1000);
    store.write((writer) => writer.remove('Boat', '999'));
    await ask(query);
    expect(calls.fast).toBe(1999);
  });

  test('calls the resolver only for records that meet the other conditions', async () => {
    const { data } = await ask('{ allBoat(filter: {slow: {eq: 1}, id: {in: ["1", "2"]}}) { totalCount } }');
    expect(data).toEqual({ allBoat: { totalCount: 2 } });
    expect(calls.slow).toBe(2);
  });

  test('may query other records while the statement runs', async () => {
    const query = '{ allBoat(filter: {twins: {eq: 100}, name: {in: ["x", "xx"]}}) { totalCount } }';
    expect(await ask(query)).toEqual({ data: { allBoat: { totalCount: 200 } } });
  });

  test('ends at the work limit of the query', async () => {
    const { errors } = await ask('{ allBoat(filter: {slow: {eq: 2}}) { totalCount } }', { workMs: 100 });
    expect(errors?.[0]?.message).toContain('The query exceeded its work limit of 100 ms');
    expect(calls.slow).toBeLessThan(200);
  });

  test('ends at the time limit of the query, and waits for a batch of promises at a time', async () => {
    const { errors } = await ask('{ allBoat(filter: {late: {eq: 1}}) { totalCount } }', { timeoutMs: 100 });
    expect(errors?.[0]?.message).toContain('The query exceeded its time limit of 100 ms');
    expect(calls.late).toBeLessThanOrEqual(201);
  });
});
