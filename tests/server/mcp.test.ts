import { operations } from '../../src/generated/secrets/operations.js';
import { createMcp } from '../../src/server/mcp/mcp.js';

const ids = ['createObject', 'getObject', 'updateObject', 'deleteObject', 'listObjects'];
const document = new URL('../../src/generated/secrets/openapi.json', import.meta.url);
const sender = {
  headers: {},
  caller: undefined,
  requestId: 'q1',
  address: '192.0.2.7',
  signal: new AbortController().signal,
};

/** Tools whose operations all fail in the same way. */
const createFailing = (error: Error) => {
  const handlers = Object.fromEntries(ids.map((id) => [id, () => Promise.reject(error)]));
  return createMcp({ operations, handlers, document, version: '1.2.3' });
};

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get', arguments: { slug: 'a' } } };

test('a defect of an operation is the server\u2019s to tell, not the tool\u2019s', async () => {
  await expect(createFailing(new TypeError('inside')).answer(CALL, sender)).rejects.toThrow('inside');
});

test('tools need the operations that they call', async () => {
  const mcp = createMcp({ operations, handlers: {}, document, version: '1.2.3' });
  await expect(mcp.answer(CALL, sender)).rejects.toThrow('Operation createObject is missing.');
});

test('an agent that sends a response is not answered', async () => {
  const answer = createFailing(new Error('inside')).answer({ jsonrpc: '2.0', id: 1, result: {} }, sender);
  expect(await answer).toBeUndefined();
});
