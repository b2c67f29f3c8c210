import { createStringify } from '../../src/server/http/payload.js';

test.each([
  ['an object', { a: 1, b: undefined, c: [1, { d: null }], e: 'naïve "🌱"' }],
  ['an object with a frozen list', { a: 1, list: Object.freeze([{ b: 2 }, 'x']), 'c"d': undefined, e: () => 0 }],
  ['an empty frozen list', { list: Object.freeze([]) }],
  ['a list', Object.freeze([1, 2])],
  ['an object with values that have toJSON()', { at: new Date(0), list: Object.freeze([new Date(0), undefined]) }],
  ['a date', new Date(0)],
  ['a text', 'x'],
  ['null', null],
])('stringify: equals JSON.stringify() for %s', (_what, body) => {
  const stringify = createStringify();
  expect(stringify(body)).toBe(JSON.stringify(body));
  expect(stringify(body)).toBe(JSON.stringify(body));
});

test('stringify: serializes a frozen list once', () => {
  let made = 0;
  const entry = { toJSON: () => ++made };
  const list = Object.freeze([entry]);
  const stringify = createStringify();
  expect([stringify({ at: 1, list }), stringify({ at: 2, list })]).toEqual([
    '{"at":1,"list":[1]}',
    '{"at":2,"list":[1]}',
  ]);
  expect([stringify({ list: [entry] }), stringify({ list: [entry] })]).toEqual(['{"list":[2]}', '{"list":[3]}']);
});
