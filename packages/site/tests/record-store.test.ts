import { storeOf } from './query/world.js';

const store = storeOf({
  Item: [
    { id: 'Item0', text: 'a', size: 1 },
    { id: 'Item1', text: 'b', size: 1 },
    { id: 'Item2', text: 'b', size: 2 },
  ],
  Part: [],
});
afterAll(() => store.close());

describe('first', () => {
  // The store creates an index for the second request of the same columns.
  test.each([
    ['the first of several', { text: 'b' }, 'Item1'],
    ['the same with an index', { text: 'b' }, 'Item1'],
    ['one with several values', { text: 'b', size: 2 }, 'Item2'],
    ['one with other values by the same index', { text: 'a' }, 'Item0'],
  ])('returns the columns of a record with these values: %s', (_reason, values, id) => {
    expect(store.first('Item', ['id'], values)).toEqual({ id });
  });

  test('returns undefined if there is no such record', () => {
    expect(store.first('Item', ['id'], { text: 'c' })).toBeUndefined();
    expect(store.first('Item', ['id'], { text: 'a', size: 2 })).toBeUndefined();
  });
});
