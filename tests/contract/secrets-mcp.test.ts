import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { generateIdentity } from 'age-encryption';
import { createSecretsClient } from '../../src/generated/secrets/client.js';
import { open, toRecipients, seal } from '../../src/sealing/seal.js';
import { ORIGIN, startContractServer, type ContractServer } from './contract-server.js';

let server: ContractServer;
let token: string;
let cookie: string;
let agent: Client;

beforeEach(async () => {
  server = await startContractServer();
  const owner = await server.addPerson('ada');
  cookie = owner.cookie;
  token = await server.issueToken('write', owner.person);
  agent = await connect({ authorization: `Bearer ${token}`, 'x-caller': 'agent' });
});
afterEach(async () => {
  await agent.close();
  await server.close();
});

/** Connects the official MCP client over HTTP. */
async function connect(headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const url = new URL(`${server.url}/secrets/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

async function call(name: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }> {
  const { content, isError } = await agent.callTool({ name, arguments: args });
  const [{ text }] = content as [{ text: string }];
  return { text, isError: isError === true };
}

const readJson = async (name: string, args: Record<string, unknown>) =>
  JSON.parse((await call(name, args)).text) as Record<string, unknown>;

async function sealForMe(value: string) {
  const identity = await generateIdentity();
  const sealed = await seal(value, await toRecipients(identity));
  return { identity, sealed: Buffer.from(sealed).toString('base64') };
}

test('listTools: returns five tools, none of which can store a readable copy', async () => {
  expect(agent.getServerVersion()).toEqual({ name: 'trellis-secrets', version: '1.2.3' });
  const { tools } = await agent.listTools();
  const parameters = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {}).sort()]);
  const written = ['recipients', 'rotate_after_days', 'slug', 'tags', 'used_by', 'value'];
  expect(Object.fromEntries(parameters)).toEqual({
    inject: [...written, 'description'].sort(),
    get: ['id', 'slug'],
    update: [...written, 'description', 'id'].sort(),
    delete: ['id', 'slug'],
    list: ['cursor', 'limit', 'offset', 'reseal', 'rotation_due', 'slug', 'tag', 'used_by'],
  });
  expect(tools.map(({ inputSchema }) => inputSchema.required)).toEqual([
    ['slug', 'value'],
    ['slug'],
    ['slug', 'value'],
    ['slug'],
    [],
  ]);
  expect(JSON.stringify(tools)).not.toContain('$ref');
});

test('An agent stores, reads, replaces, finds and deletes a sealed value', async () => {
  const { identity, sealed } = await sealForMe('hunter2');
  const made = await readJson('inject', { slug: 'db-password', value: sealed, used_by: ['acme/shop'], tags: ['Prod'] });
  expect(made).toMatchObject({ slug: 'db-password', used_by: ['acme/shop'], tags: ['prod'], recipient_count: 1 });
  expect(made).not.toHaveProperty('keep_readable_copy');

  const { text } = await call('get', { slug: 'db-password' });
  expect(Buffer.from(await open(Buffer.from(text, 'base64'), identity)).toString()).toBe('hunter2');

  const next = await sealForMe('hunter3');
  expect(await readJson('update', { slug: 'db-password', id: made.id, value: next.sealed })).toMatchObject({
    id: made.id,
  });
  expect(await call('get', { slug: 'db-password' })).toEqual({ text: next.sealed, isError: false });
  expect(await readJson('list', { tag: 'PROD', used_by: 'acme/shop', limit: 1 })).toMatchObject({
    total: 1,
    objects: [{ slug: 'db-password' }],
  });
  expect(await readJson('list', { tag: 'other' })).toEqual({ total: 0, objects: [] });
  expect(await call('delete', { slug: 'db-password' })).toEqual({ text: 'Done.', isError: false });
  expect(await readJson('list', {})).toEqual({ total: 0, objects: [] });

  const secrets = createSecretsClient(`${server.url}/secrets`, { token });
  const { data = [] } = await secrets.GET('/audit-log', { params: { query: { object_id: 'db-password' } } });
  expect(data.map(({ action, caller, actor_type }) => [action, caller, actor_type])).toEqual(
    ['create', 'read', 'update', 'read', 'delete'].map((action) => [action, 'agent', 'token']),
  );
});

test.each<[string, string, Record<string, unknown>, object]>([
  ['the slug is unknown', 'get', { slug: 'nothing' }, { error: 'unknown object', code: 'not_found' }],
  ['the slug is missing', 'get', {}, { code: 'invalid_input', field: 'slug' }],
  ['the id is not a UUID', 'get', { slug: 'a', id: 'b' }, { code: 'invalid_input', field: 'id' }],
  ['a number is given as text', 'list', { limit: '5' }, { code: 'invalid_input', field: 'limit' }],
  ['several tags are given', 'list', { tag: ['a', 'b'] }, { code: 'invalid_input' }],
  ['the value is not sealed', 'inject', { slug: 'a', value: 'aGVsbG8=' }, { code: 'unprocessable', field: 'value' }],
  ['it has no such argument', 'inject', { keep_readable_copy: true }, { field: 'keep_readable_copy' }],
])('A tool returns an error if %s', async (_reason, name, args, expected) => {
  const { text, isError } = await call(name, args);
  expect([isError, JSON.parse(text)]).toEqual([true, expect.objectContaining(expected)]);
});

test('callTool: rejects an unknown tool with a protocol error', async () => {
  await expect(agent.callTool({ name: 'open', arguments: {} })).rejects.toThrow(
    'Expected the tool to be one of inject, get',
  );
  await expect(agent.listPrompts()).rejects.toThrow();
});

test("MCP accepts the owner's session and rejects consumer tokens", async () => {
  const owner = await connect({ cookie, 'sec-fetch-site': 'same-origin' });
  expect((await owner.callTool({ name: 'list', arguments: {} })).isError).toBeUndefined();
  await owner.close();
  const person = await server.addPerson('eve');
  const consumer = await server.issueToken('consumer', person.person);
  await expect(connect({ authorization: `Bearer ${consumer}` })).rejects.toMatchObject({ code: 401 });
  await expect(connect({ cookie, 'sec-fetch-site': 'cross-site' })).rejects.toMatchObject({ code: 403 });
});

test('The tools of a limited token are those that its permissions allow', async () => {
  const headers = { cookie, origin: ORIGIN, 'content-type': 'application/json' };
  const body = JSON.stringify({ description: 'lists', access: { permissions: ['list'] } });
  const response = await fetch(`${server.url}/secrets/tokens`, { method: 'POST', headers, body });
  const { value } = (await response.json()) as { value: string };
  const limited = await connect({ authorization: `Bearer ${value}` });
  expect((await limited.callTool({ name: 'list', arguments: {} })).isError).toBeUndefined();
  for (const name of ['get', 'delete']) {
    const { content, isError } = await limited.callTool({ name, arguments: { slug: 'a' } });
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('forbidden')]);
  }
  await limited.close();
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/secrets/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

test('callMcp: handles requests, batches and notifications', async () => {
  const single = await post(PING);
  expect([single.status, await single.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  const batch = await post([PING, { jsonrpc: '2.0', method: 'notifications/initialized' }, { ...PING, id: 'two' }]);
  expect(await batch.json()).toEqual([
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 'two', result: {} },
  ]);
  const notification = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect([notification.status, await notification.text()]).toEqual([202, '']);
  const unknown = await post({ ...PING, method: 'secrets/steal' });
  expect(await unknown.json()).toMatchObject({ error: { code: -32601 } });
});

test.each<[string, unknown, Record<string, string>]>([
  ['a body that is not a message', { hello: 'there' }, {}],
  ['an empty batch', [], {}],
  ['a batch that is too long', Array.from({ length: 21 }, () => PING), {}],
  ['an unsupported protocol version', PING, { 'mcp-protocol-version': '1999-01-01' }],
])('callMcp: returns 400 for %s', async (_reason, body, headers) => {
  const response = await post(body, headers);
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: 'invalid_input' })]);
});

test('MCP: returns 405 for GET and DELETE, as there are no streams and sessions', async () => {
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(`${server.url}/secrets/mcp`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  }
});
