import { createMcp } from '@trellis/server/mcp/endpoint';
import { operations } from '../../../src/generated/secrets/operations.js';
import { MCP_TOOLS } from '../../../src/handlers/secrets/mcp-tools.js';

const ids = ['createObject', 'getObject', 'updateObject', 'deleteObject', 'listObjects'];
const document = new URL('../../../src/generated/secrets/openapi.json', import.meta.url);
const sender = {
  headers: {},
  caller: undefined,
  requestId: 'q1',
  address: '192.0.2.7',
  signal: new AbortController().signal,
};

/** Creates an endpoint whose operations all throw the same error. */
const createFailing = (error: Error) => {
  const handlers = Object.fromEntries(ids.map((id) => [id, () => Promise.reject(error)]));
  return createMcp({ ...MCP_TOOLS, operations, handlers, document, version: '1.2.3' });
};

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get', arguments: { slug: 'a' } } };

test('MCP: an internal error of an operation is thrown instead of returned to the agent', async () => {
  await expect(createFailing(new TypeError('inside')).handle(CALL, sender)).rejects.toThrow('inside');
});

test('MCP: creating tools fails without their operations', async () => {
  const mcp = createMcp({ ...MCP_TOOLS, operations, handlers: {}, document, version: '1.2.3' });
  await expect(mcp.handle(CALL, sender)).rejects.toThrow('Operation createObject is missing.');
});

test('MCP: a response from an agent gets no response', async () => {
  const answer = createFailing(new Error('inside')).handle({ jsonrpc: '2.0', id: 1, result: {} }, sender);
  expect(await answer).toBeUndefined();
});
