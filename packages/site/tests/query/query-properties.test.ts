import type { RelationField } from '@trellis/core/record-types';
import fc from 'fast-check';
import type { RecordFilter, RecordSelection, WorkMeter } from '../../src/query/record-queries.js';
import { openRecordStore } from '../../src/record-store.js';
import { Evaluator } from './evaluator.js';
import { byEngine, filtersOf, groupSorts, hasText, pages, pathsOf, sortsOf } from './query-arbitraries.js';
import { computedValues, computeValue, tables } from './tables.js';
import { fill, storeOf, worldsOf } from './world.js';

const column = (name: string, holds: 'json' | 'value' | 'float' = 'value') =>
  ({ kind: 'column', name, column: name, holds }) as const;
const VALUES = { values: [column('id'), column('text'), column('size'), column('tags', 'json')], relations: [] };
const EXACT = { values: [column('id'), column('ratio', 'float')], relations: [] };
const ID = { values: [column('id')], relations: [] };

const store = storeOf({});
afterAll(() => store.close());

const worlds = worldsOf(tables);
const filters = filtersOf(tables, tables.Item, byEngine);
const paths = pathsOf(tables, tables.Item.fields, 2);
const sorts = sortsOf(paths);
const fields = fc.constantFrom(...paths.filter((path) => hasText(tables, tables.Item.fields, path)));
const relations = tables.Item.fields.filter((field): field is RelationField => field.kind === 'relation');

/** The worlds of each test: `QUERIES=10000 npm test -- packages/site/tests/query/query-properties.test.ts`. */
const RUNS = Number(process.env.QUERIES ?? 300);

test('a page has the same records as the reference implementation', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, filters, sorts, pages, async (world, filter, sort, page) => {
      fill(store, world);
      const evaluator = new Evaluator(tables, world, computeValue);
      const question = { filter, sort, ...page };
      const expected = evaluator.page('Item', question);
      const found = store.page('Item', { ...question, computed: computedValues() }, VALUES);
      expect(await store.withComputedValues(() => found.nodes)).toEqual(
        expected.map(({ id, text, size, tags }) => ({ __typename: 'Item', id, text, size, tags })),
      );
      const counted = store.page('Item', { ...question, computed: computedValues() }, ID);
      expect(await store.withComputedValues(() => counted.totalCount)).toBe(evaluator.page('Item', { filter }).length);
    }),
    { numRuns: RUNS },
  );
});

/** Interrupts every filter that can be interrupted. */
const interruptingMeter = (): WorkMeter & { turns: number } => ({
  turns: 0,
  statementMs: 0,
  check: () => undefined,
  work: (piece) => piece(),
  nextTurn() {
    this.turns += 1;
    return Promise.resolve();
  },
});

test('a filter that is evaluated in pieces has the same matches', async () => {
  let turns = 0;
  await fc.assert(
    fc.asyncProperty(worlds, filters, sorts, pages, async (world, filter, sort, page) => {
      fill(store, world);
      const question = { filter, sort, ...page };
      const meter = interruptingMeter();
      const expected = new Evaluator(tables, world, computeValue).page('Item', question).map(({ id }) => id);
      const found = store.page('Item', { ...question, computed: computedValues(), meter }, ID);
      expect((await store.withComputedValues(() => found.nodes)).map(({ id }) => id)).toEqual(expected);
      turns += meter.turns;
    }),
    { numRuns: RUNS },
  );
  expect(turns).toBeGreaterThan(RUNS / 20);
});

test('a filter that is evaluated in pieces counts and groups the same matches', async () => {
  const names = ['b', 'a', 'ab', 'b', 'abb'];
  fill(store, { Item: names.map((text, index) => ({ id: `i${index}`, text })), Part: [] });
  const meter = interruptingMeter();
  const found = store.page('Item', { filter: { text: { regex: '/^a?b/' } }, meter }, ID);
  expect(await store.withComputedValues(() => found.totalCount)).toBe(4);
  expect(await store.withComputedValues(() => found.distinct({ field: 'text' }))).toEqual(['ab', 'abb', 'b']);
  const groups = await store.withComputedValues(() => found.group({ field: 'text' }));
  expect(groups.map(({ fieldValue, totalCount }) => [fieldValue, totalCount])).toEqual([
    ['ab', 1],
    ['abb', 1],
    ['b', 2],
  ]);
  expect(meter.turns).toBeGreaterThan(0);
});

test('indexes for a query shape do not change its results', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, filters, sorts, async (world, filter, sort) => {
      fill(store, world);
      const question = { filter, sort, limit: 5, computed: computedValues() };
      const expected = new Evaluator(tables, world, computeValue)
        .page('Item', question)
        .map(({ id, ratio }) => ({ __typename: 'Item', id, ratio }));
      for (let time = 0; time < 3; time += 1) {
        expect(await store.withComputedValues(() => store.page('Item', question, EXACT).nodes)).toEqual(expected);
      }
    }),
    { numRuns: RUNS },
  );
});

test('groups and distinct values are those of the reference implementation', async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds,
      filters,
      sorts,
      pages,
      fields,
      groupSorts,
      async (world, filter, sort, page, field, groupSort) => {
        fill(store, world);
        const evaluator = new Evaluator(tables, world, computeValue);
        const question = { filter, sort, ...page };
        const records = evaluator.page('Item', question);
        const found = store.page('Item', { ...question, computed: computedValues() }, ID);
        expect(await store.withComputedValues(() => found.distinct({ field }))).toEqual(
          evaluator.distinct('Item', records, field),
        );
        const groups = groupSort ? { field, sort: groupSort } : { field };
        // Sorting the nodes of a group may need computed values that counting did not.
        const shown = await store.withComputedValues(() =>
          found.group(groups).map(({ fieldValue, nodes }) => [fieldValue, nodes.map(({ id }) => id)]),
        );
        expect(shown).toEqual(evaluator.groups('Item', records, field, groupSort));
      },
    ),
    { numRuns: RUNS },
  );
});

const kinds = Object.keys(tables);

test('cached results change with the records that they were read from', async () => {
  const related = filtersOf(tables, tables.Part, byEngine).chain((filter) =>
    fc.constantFrom({ childPart: filter }, { tagged: { elemMatch: filter } }),
  );
  const questions = fc.array(
    fc.record({ filter: fc.oneof(filters, related), sort: sorts, page: pages, field: fields }),
    {
      minLength: 2,
      maxLength: 4,
    },
  );
  const changes = fc.array(fc.tuple(worlds, fc.subarray(kinds, { minLength: 1, maxLength: 2 })), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(worlds, questions, changes, async (first, asked, changed) => {
      let world = first;
      fill(store, world);
      for (const [next, replaced] of [[first, []] as const, ...changed]) {
        world = { ...world, ...Object.fromEntries(replaced.map((kind) => [kind, next[kind] ?? []])) };
        fill(store, world, tables, replaced);
        const evaluator = new Evaluator(tables, world, computeValue);
        for (const { filter, sort, page, field } of asked) {
          const found = store.page('Item', { filter, sort, ...page, computed: computedValues() }, VALUES);
          const records = evaluator.page('Item', { filter, sort, ...page });
          expect((await store.withComputedValues(() => found.nodes)).map(({ id }) => id)).toEqual(
            records.map(({ id }) => id),
          );
          const all = store.page('Item', { filter, computed: computedValues() }, ID);
          const matches = evaluator.page('Item', { filter });
          expect(await store.withComputedValues(() => all.totalCount)).toBe(matches.length);
          expect(await store.withComputedValues(() => all.distinct({ field }))).toEqual(
            evaluator.distinct('Item', matches, field),
          );
        }
      }
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});

test('results stay cached while records of other types change', () => {
  const texts: string[] = [];
  const watch = { slowMs: 0, onSlow: ({ text }: { readonly text: string }) => void texts.push(text) };
  const watched = openRecordStore({ file: ':memory:', tables, watch });
  try {
    const names = ['a', 'b', 'a', 'c', 'b', 'a'];
    const things = (name: string) => ({
      Item: names.map((text, index) => ({ id: `Item${index}`, text, tags: [text] })),
      Part: [{ id: 'Part0', name }],
    });
    fill(watched, things('a'));
    const ask = (filter: RecordFilter) => {
      texts.length = 0;
      const found = watched.page('Item', { filter, limit: 10 }, ID);
      const all = watched.page('Item', { filter }, ID);
      const ids = found.nodes.map(({ id }) => id);
      return { ids, count: all.totalCount, distinct: all.distinct({ field: 'text' }), statements: texts.length };
    };
    const own = { text: { in: ['a', 'b'] } };
    const related = { tagged: { elemMatch: { name: { eq: 'b' } } } };
    expect(ask(own)).toMatchObject({ count: 5, distinct: ['a', 'b'] });
    expect(ask(own).statements).toBe(0);
    expect(ask(related)).toMatchObject({ count: 0 });
    fill(watched, things('b'), tables, ['Part']);
    expect(ask(own)).toMatchObject({ count: 5, statements: 0 });
    expect(ask(related)).toMatchObject({ ids: ['Item1', 'Item4'], count: 2, distinct: ['b'] });
    fill(watched, { Item: [{ id: 'Item0', text: 'b' }] }, tables, ['Item']);
    expect(ask(own)).toMatchObject({ ids: ['Item0'], count: 1, distinct: ['b'] });
    expect(() => {
      watched.write((writer) => {
        writer.remove('Item', 'Item0');
        expect(ask({ text: { eq: 'b' } }).count).toBe(0);
        throw new Error('rolled back');
      });
    }).toThrow('rolled back');
    expect(ask({ text: { eq: 'b' } })).toMatchObject({ ids: ['Item0'], count: 1 });
  } finally {
    watched.close();
  }
});

test('records of content files have the same matches, order, groups and shape', async () => {
  const own = pathsOf(tables, tables.Post.fields, 2);
  const groupFields = fc.constantFrom(...own.filter((path) => hasText(tables, tables.Post.fields, path)));
  await fc.assert(
    fc.asyncProperty(
      worlds,
      filtersOf(tables, tables.Post, byEngine),
      sortsOf(own),
      pages,
      groupFields,
      async (world, filter, sort, page, field) => {
        fill(store, world);
        const evaluator = new Evaluator(tables, world, computeValue);
        const question = { filter, sort, ...page };
        const expected = evaluator.page('Post', question);
        // An index for the query is made at its second run.
        for (let time = 0; time < 3; time += 1) {
          const found = store.page('Post', { ...question, computed: computedValues() }, SHAPE);
          expect(await store.withComputedValues(() => found.nodes)).toEqual(expected.map(toShape));
          expect(await store.withComputedValues(() => found.distinct({ field }))).toEqual(
            evaluator.distinct('Post', expected, field),
          );
        }
        const counted = store.page('Post', { filter, computed: computedValues() }, ID);
        expect(await store.withComputedValues(() => counted.totalCount)).toBe(
          evaluator.page('Post', { filter }).length,
        );
      },
    ),
    { numRuns: RUNS },
  );
});

const META = ['meta.title', 'meta.deep.level', 'meta.deep.day'] as const;
const SHAPE: RecordSelection = {
  values: [
    column('id'),
    {
      kind: 'object',
      name: 'meta',
      presence: [...META, 'meta.counts'],
      emptyPath: 'meta',
      values: [
        { ...column('title'), column: 'meta.title' },
        {
          kind: 'object',
          name: 'deep',
          presence: META.slice(1),
          emptyPath: 'meta.deep',
          values: [{ ...column('level'), column: 'meta.deep.level' }],
        },
      ],
    },
  ],
  relations: [],
};

interface Meta {
  readonly title?: string | null;
  readonly deep?: { readonly level?: number | null } | null;
}

const toShape = ({ id, meta }: Readonly<Record<string, unknown>>) => {
  const { title = null, deep } = (meta ?? {}) as Meta;
  const inner = deep ? { level: deep.level ?? null } : null;
  return { __typename: 'Post', id, meta: meta ? { title, deep: inner } : null };
};

test('relations lead to the same records as in the reference implementation', () => {
  const selection = { ...ID, relations: relations.map((field) => ({ field, select: () => ID })) };
  fc.assert(
    fc.property(worlds, (world) => {
      fill(store, world);
      const evaluator = new Evaluator(tables, world, computeValue);
      const found = store
        .page('Item', {}, selection)
        .nodes.map((node) => relations.map(({ name }) => idsOf(node[`~${name}`])));
      const expected = (world.Item ?? []).map((record) =>
        relations.map((field) => evaluator.related('Item', record, field)),
      );
      expect(found).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});

const idsOf = (related: unknown): unknown =>
  Array.isArray(related) ? related.map(idsOf) : ((related as { id: string } | null)?.id ?? null);
