import fc from 'fast-check';
import { distinct, evaluate, groups } from './evaluator.js';
import { filters, pages, PATHS, sorts } from './questions.js';
import { fill, loud, storeOf, worlds } from './world.js';

const column = (name: string, holds: 'json' | 'value' | 'float' = 'value') =>
  ({ kind: 'column', name, column: name, holds }) as const;
const VALUES = { values: [column('id'), column('text'), column('size'), column('tags', 'json')], relations: [] };
const EXACT = { values: [column('id'), column('ratio', 'float')], relations: [] };

const store = storeOf({ Item: [], Part: [] });
afterAll(() => store.close());

const ID = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] } as const;

const RUNS = 300;

test('a page holds what a plain evaluation of the same question holds', () => {
  fc.assert(
    fc.property(worlds, filters, sorts, pages, (world, filter, sort, page) => {
      fill(store, world);
      const question = { filter, sort, ...page };
      const expected = evaluate(world, question);
      const found = store.page('Item', { ...question, compute: loud }, VALUES);
      expect(found.nodes).toEqual(
        expected.map(({ id, text, size, tags }) => ({ __typename: 'Item', id, text, size, tags })),
      );
      expect(store.page('Item', { ...question, compute: loud }, ID).totalCount).toBe(
        evaluate(world, { filter }).length,
      );
    }),
    { numRuns: RUNS },
  );
});

test('indexes made for a shape of question do not change its answers', () => {
  fc.assert(
    fc.property(worlds, filters, sorts, (world, filter, sort) => {
      fill(store, world);
      const question = { filter, sort, limit: 5, compute: loud };
      const expected = evaluate(world, question).map(({ id, ratio }) => ({ __typename: 'Item', id, ratio }));
      for (let time = 0; time < 3; time += 1) {
        expect(store.page('Item', question, EXACT).nodes).toEqual(expected);
      }
    }),
    { numRuns: RUNS },
  );
});

test('groups and distinct values are those of the page', () => {
  const value = fc.constantFrom(...PATHS);
  fc.assert(
    fc.property(worlds, filters, sorts, pages, value, (world, filter, sort, page, field) => {
      fill(store, world);
      const question = { filter, sort, ...page };
      const records = evaluate(world, question);
      const found = store.page('Item', { ...question, compute: loud }, ID);
      expect(found.distinct({ field })).toEqual(distinct(records, field, world));
      const shown = found.group({ field }).map(({ fieldValue, nodes }) => [fieldValue, nodes.map(({ id }) => id)]);
      expect(shown).toEqual(groups(records, field, world));
    }),
    { numRuns: RUNS },
  );
});
