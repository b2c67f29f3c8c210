import { createToPayload } from '../../src/server/http/payload.js';

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
