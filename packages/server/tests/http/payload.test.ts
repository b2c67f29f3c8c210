import { createStringify, createToPayload } from '../../src/http/payload.js';

/** Counts how often it is serialized. */
function createCounted(text = 'x') {
  let made = 0;
  return { counted: { text, toJSON: () => ({ text, made: (made += 1) }) }, made: () => made };
}

test.each([
  ['a short text', 'x'],
  ['a long text', 'ü'.repeat(5_000)],
])('payload: has the JSON and the ETag of a body: %s', (_what, text) => {
  const { bytes, etag } = createToPayload()({ text });
  expect(bytes.toString()).toBe(JSON.stringify({ text }));
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(createToPayload()({ text }).etag).toBe(etag);
});

test('payload: is created once for a frozen body', () => {
  const toPayload = createToPayload();
  const { counted, made } = createCounted();
  const body = Object.freeze({ counted });
  expect(toPayload(body)).toBe(toPayload(body));
  expect(made()).toBe(1);
});

test('payload: is created each time for a body that may change', () => {
  const toPayload = createToPayload();
  const { counted } = createCounted();
  const body = { counted };
  expect([toPayload(body).bytes, toPayload(body).bytes]).toEqual([
    '{"counted":{"text":"x","made":1}}',
    '{"counted":{"text":"x","made":2}}',
  ]);
});

test.each([[null], ['text'], [1]])('payload: is the JSON of %p, which is not cached', (body) => {
  expect(createToPayload()(body).bytes).toBe(JSON.stringify(body));
});

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
