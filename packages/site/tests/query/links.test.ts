import type { RelationField } from '@trellis/core/record-types';
import { tables } from './tables.js';
import { fill, storeOf } from './world.js';

const store = storeOf({
  Item: [
    { id: 'Item0', text: 'none', several: null },
    { id: 'Item1', text: 'empty', several: [] },
    { id: 'Item2', text: 'many', several: ['Item1', 'nowhere', 'Item0', null, 'Item1'], chosen: 'Item1' },
    { id: 'Item3', text: 'tagged', tags: ['b', 'a'], chosen: 'nowhere' },
  ],
  Part: [
    { id: 'Part0', name: 'a' },
    { id: 'Part1', name: 'b' },
    { id: 'Part2', name: 'a' },
  ],
});
afterAll(() => store.close());

const ID = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] } as const;

const follow = (name: string): unknown[] => {
  const field = tables.Item.fields.find((one): one is RelationField => one.name === name && one.kind === 'relation')!;
  const selection = { ...ID, relations: [{ field, select: () => ID }] };
  return store.page('Item', {}, selection).nodes.map((node) => node[`~${name}`]);
};

test('a list of links leads to the record of each distinct key, in the order of the keys', () => {
  expect(follow('several')).toMatchObject([null, [], [{ id: 'Item1' }, { id: 'Item0' }], null]);
});

test('a non-null list of links is empty where its column is null', () => {
  expect(follow('tagged')).toMatchObject([[], [], [], [{ id: 'Part1' }, { id: 'Part0' }]]);
});

test('a link with a column of its own leads to one record or null', () => {
  expect(follow('chosen')).toMatchObject([null, null, { id: 'Item1' }, null]);
});

test.each([
  ['an element that matches', { several: { elemMatch: { text: { eq: 'empty' } } } }, ['Item2']],
  [
    'null in a linked record but not in a missing or empty list',
    { several: { elemMatch: { size: { gte: null } } } },
    ['Item2'],
  ],
  ['no null in a missing list that counts as empty', { tagged: { elemMatch: { tags: { eq: null } } } }, ['Item3']],
  ['only the first record with a key', { tagged: { elemMatch: { id: { eq: 'Part2' } } } }, []],
])('a filter on a list of links finds %s', (_reason, filter, expected) => {
  expect(store.page('Item', { filter }, ID).nodes.map(({ id }) => id)).toEqual(expected);
});

test('a back reference leads to the records that refer to this one, in the order of their creation', () => {
  expect(follow('chosenBy')).toMatchObject([[], [{ id: 'Item2' }], [], []]);
  expect(follow('firstChosenBy')).toMatchObject([null, { id: 'Item2' }, null, null]);
});

test('a back reference of a list contains a record once, even if its list repeats the value', () => {
  const other = storeOf({
    Item: [
      { id: 'Item0', tags: ['a', 'b', 'a'] },
      { id: 'Item1', tags: ['b'] },
      { id: 'Item2', tags: null },
    ],
    Part: [
      { id: 'Part0', name: 'a' },
      { id: 'Part1', name: 'b' },
      { id: 'Part2', name: null },
    ],
  });
  const field = tables.Part.fields.find((one): one is RelationField => one.name === 'taggedBy')!;
  const page = other.page('Part', {}, { ...ID, relations: [{ field, select: () => ID }] });
  expect(page.nodes.map((node) => node['~taggedBy'])).toMatchObject([
    [{ id: 'Item0' }],
    [{ id: 'Item0' }, { id: 'Item1' }],
    [],
  ]);
  other.close();
});

test('values of linked records are sorted and grouped in the order of the keys', () => {
  const sorted = store.page('Item', { sort: { fields: ['several.text'] } }, ID);
  expect(sorted.nodes.map(({ id }) => id)).toEqual(['Item1', 'Item2', 'Item0', 'Item3']);
  expect(sorted.distinct({ field: 'several.text' })).toEqual(['empty', 'none']);
});

test('floats in lists keep all their digits', () => {
  const things = [{ ratio: 1 / 3 }];
  const world = { Item: [{ id: 'Item0', things }], Part: [{ id: 'Part0', parent: 'Item0', ratio: 2 / 3 }] };
  const other = storeOf(world);
  expect(other.page('Item', {}, ID).distinct({ field: 'things.ratio' })).toEqual([String(1 / 3)]);
  fill(other, { ...world, Item: [{ id: 'Item0', several: ['Item0'], ratio: 2 / 3 }] });
  expect(other.page('Item', {}, ID).distinct({ field: 'several.ratio' })).toEqual([String(2 / 3)]);
  other.close();
});
