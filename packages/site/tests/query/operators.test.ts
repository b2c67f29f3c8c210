import { fill, storeOf } from './world.js';

const store = storeOf({ Item: [], Part: [] });
afterAll(() => store.close());

const ID = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] } as const;

/** Whether a filter matches a record with this value in one field and null in the others. */
function matches(field: string, value: unknown, input: object): boolean {
  const blank = { id: 'i0', parent: null, link: null };
  fill(store, { Item: [{ ...blank, [field]: value }], Part: [] });
  return store.page('Item', { filter: { [field]: input } }, ID).totalCount === 1;
}

describe('operators on a single value', () => {
  test.each([
    ['eq', 'a', { eq: 'a' }, true],
    ['eq is case-sensitive', 'a', { eq: 'A' }, false],
    ['eq against a missing value', null, { eq: 'a' }, false],
    ['eq null against a value', 'a', { eq: null }, false],
    ['eq null against a missing value', null, { eq: null }, true],
    ['ne of a different value', 'a', { ne: 'b' }, true],
    ['ne of the same value', 'a', { ne: 'a' }, false],
    ['ne against a missing value', null, { ne: 'a' }, true],
    ['ne null against a value', 'a', { ne: null }, true],
    ['ne null against a missing value', null, { ne: null }, false],
    ['in', 'a', { in: ['b', 'a'] }, true],
    ['in nothing', 'a', { in: [] }, false],
    ['in without null against a missing value', null, { in: ['a'] }, false],
    ['in with null against a missing value', null, { in: ['a', null] }, true],
    ['nin', 'a', { nin: ['b'] }, true],
    ['nin nothing', null, { nin: [] }, true],
    ['nin without null against a missing value', null, { nin: ['a'] }, true],
    ['nin with null against a missing value', null, { nin: [null] }, false],
    ['gt', 'b', { gt: 'a' }, true],
    ['gt of the same', 'a', { gt: 'a' }, false],
    ['gte of the same', 'a', { gte: 'a' }, true],
    ['lt against a missing value', null, { lt: 'z' }, false],
    ['gt null against a missing value', null, { gt: null }, false],
    ['gte null against a missing value', null, { gte: null }, true],
    ['lte null against a value', 'a', { lte: null }, false],
    ['text is compared by code unit: a character beyond U+FFFF precedes U+FF5E', '\u{1F600}', { lt: '\uFF5E' }, true],
    ['several operators must all match', 'b', { gt: 'a', ne: 'b' }, false],
    ['no operator has no effect', null, {}, true],
    ['an unset variable has no effect', null, { eq: undefined }, true],
    ['regex against a missing value', null, { regex: '/null/' }, false],
  ])('%s', (_reason, value, input, expected) => {
    expect(matches('text', value, input)).toBe(expected);
  });
});

describe('operators on a list', () => {
  test.each([
    ['eq of any element', ['a', 'b'], { eq: 'b' }, true],
    ['ne of any element', ['a', 'b'], { ne: 'b' }, false],
    ['ne of an empty list', [], { ne: 'b' }, true],
    ['nin of an empty list', [], { nin: ['b'] }, true],
    ['eq null of an empty list', [], { eq: null }, false],
    ['eq null of a missing list', null, { eq: null }, true],
    ['gt of any element', ['a', 'c'], { gt: 'b' }, true],
    ['in of an empty list', [], { in: [null, 'a'] }, false],
    ['regex of any element', ['a', 'bb'], { regex: '/^b+$/' }, true],
    ['glob of a missing list', null, { glob: '*' }, false],
  ])('%s', (_reason, value, input, expected) => {
    expect(matches('tags', value, input)).toBe(expected);
  });
});

/** Longer lists are passed to SQLite as one value. */
const MANY = Array.from({ length: 40 }, (_, index) => `other ${index}`);

describe('operators with a long list of values', () => {
  const texts = ['', 'a', '"', '\\', '\n', '\u0001', '\u2028', '\u00e9', '\u{1F600}', '1', 'null', '%', "'"];
  test.each(texts.map((text) => [JSON.stringify(text), text]))('find %s', (_name, text) => {
    expect(matches('text', text, { in: [...MANY, text] })).toBe(true);
    expect(matches('text', text, { in: MANY })).toBe(false);
    expect(matches('text', text, { nin: [...MANY, text] })).toBe(false);
    expect(matches('text', text, { nin: MANY })).toBe(true);
    expect(matches('tags', ['b', text], { in: [...MANY, text] })).toBe(true);
    expect(matches('tags', ['b', text], { nin: MANY })).toBe(true);
  });

  test.each(['a\0b', 'a\uD800'])('find a text like a single value if JSON would change it', (text) => {
    expect(matches('text', text, { in: [...MANY, text] })).toBe(matches('text', text, { eq: text }));
  });

  test('find a missing value only if null is listed', () => {
    expect(matches('text', null, { in: MANY })).toBe(false);
    expect(matches('text', null, { in: [...MANY, null] })).toBe(true);
    expect(matches('text', null, { nin: MANY })).toBe(true);
    expect(matches('text', null, { nin: [...MANY, null] })).toBe(false);
  });

  test('find numbers', () => {
    const numbers = MANY.map((_, index) => index / 7);
    expect(matches('ratio', 3 / 7, { in: numbers })).toBe(true);
    expect(matches('ratio', 4, { nin: numbers.slice(0, 20) })).toBe(true);
  });
});

describe('elemMatch', () => {
  test.each([
    [
      'requires one element to match all conditions',
      [{ name: 'a', amount: 1 }],
      { name: { eq: 'a' }, amount: { eq: 1 } },
      true,
    ],
    ['does not combine two elements', [{ name: 'a' }, { amount: 1 }], { name: { eq: 'a' }, amount: { eq: 1 } }, false],
    ['finds no null in an empty list', [], { name: { eq: null } }, false],
    ['finds nothing in a missing list', null, { name: { eq: null } }, false],
    ['has no effect when it is empty', [], {}, true],
  ])('%s', (_reason, value, elemMatch, expected) => {
    expect(matches('things', value, { elemMatch })).toBe(expected);
  });
});

test('a record appears once, however many elements match', () => {
  expect(matches('tags', ['a', 'ab', 'abc'], { regex: '/a/' })).toBe(true);
});

test('a null field and an empty filter have no effect', () => {
  fill(store, { Item: [{ id: 'i0' }, { id: 'i1' }], Part: [] });
  expect(store.page('Item', { filter: { text: null, meta: {}, parent: { id: {} } } }, ID).totalCount).toBe(2);
});

test.each([
  ['a list of too many values', { text: { in: Array<string>(5001).fill('a') } }, /at most 5000 values/],
  ['an unknown operator', { text: { like: 'a' } }, /received "like"/],
  ['an unknown field', { nowhere: { eq: 1 } }, /received "nowhere"/],
  ['a null pattern', { text: { regex: null } }, /received null/],
])('filters reject %s', (_reason, filter, message) => {
  expect(() => store.page('Item', { filter }, ID).totalCount).toThrow(message);
});

test.each(["' OR 1=1 --", '"; DROP TABLE "Item"; --', "'); SELECT '", '?', '%', '\\', '$.name', '"]'])(
  'the filter value %j never becomes SQL',
  (text) => {
    const things = [{ name: text, amount: 1, labels: [text] }];
    fill(store, { Item: [{ id: 'i0', text, tags: [text], things, meta: { title: text } }, { id: 'i1' }], Part: [] });
    const operators = [{ eq: text }, { in: [text, 'x'] }, { gte: text, lte: text }, { nin: [null] }];
    for (const input of operators) {
      const everywhere = {
        text: input,
        tags: input,
        meta: { title: input },
        things: { elemMatch: { name: input, labels: input } },
      };
      expect(store.page('Item', { filter: everywhere, sort: { fields: ['text'] } }, ID).nodes).toMatchObject([
        { id: 'i0' },
      ]);
    }
    expect(store.page('Item', {}, ID).distinct({ field: 'text' })).toEqual([text]);
    for (const path of [text, `text${text}`, `meta.${text}`]) {
      expect(() => store.page('Item', { sort: { fields: [path] } }, ID)).toThrow(/Expected the path of a field/);
    }
  },
);
