import { createToPayload } from '../../src/server/payload.js';

/** Counts how often its JSON is made. */
function createCounted(text = 'x') {
  let made = 0;
  return { counted: { text, toJSON: () => ({ text, made: (made += 1) }) }, made: () => made };
}

test.each([
  ['a short text', 'x'],
  ['a long text', 'ü'.repeat(5_000)],
])('is the JSON of a body, and what names it: %s', (_what, text) => {
  const { bytes, etag } = createToPayload()({ text });
  expect(bytes.toString()).toBe(JSON.stringify({ text }));
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(createToPayload()({ text }).etag).toBe(etag);
});

test('is made once of a body that is frozen', () => {
  const toPayload = createToPayload();
  const { counted, made } = createCounted();
  const body = Object.freeze({ counted });
  expect(toPayload(body)).toBe(toPayload(body));
  expect(made()).toBe(1);
});

test('is made each time of a body that may change', () => {
  const toPayload = createToPayload();
  const { counted } = createCounted();
  const body = { counted };
  expect([toPayload(body).bytes, toPayload(body).bytes]).toEqual([
    '{"counted":{"text":"x","made":1}}',
    '{"counted":{"text":"x","made":2}}',
  ]);
});

test.each([[null], ['text'], [1]])('is the JSON of %p, which nothing can be kept with', (body) => {
  expect(createToPayload()(body).bytes).toBe(JSON.stringify(body));
});
