import type { Authenticators } from '../../src/http/credentials.js';
import { createRateLimiter } from '../../src/http/rate-limits.js';
import type { OperationSpec, Validator } from '../../src/rest/operation.js';
import { contractRouter } from '../../src/rest/router.js';
import { serve } from '../serve.js';

const schemes = {
  key: { caller: 'robot', type: 'apiKey', in: 'header', name: 'X-Key' },
  login: { caller: 'person', type: 'http', scheme: 'basic' },
} as const;

const authenticate: Authenticators<typeof schemes> = {
  key: async (key) => (key === 'good' ? { id: key } : undefined),
  login: async ({ username, password }) => (password === 'secret' ? { id: username, isAdmin: true } : undefined),
};

const operation = (security: OperationSpec['security']): OperationSpec => ({
  id: 'getItems',
  method: 'get',
  path: '/items',
  security,
  parameters: [],
  responses: { 200: { contentTypes: ['application/json'] } },
  validate: {},
});

const options = {
  basePath: '',
  revision: '1',
  schemes,
  handlers: { getItems: async ({ caller }: { caller: unknown }) => ({ status: 200, body: caller }) },
  replays: { answerOnce: <T>(_request: unknown, answer: () => Promise<T>) => answer() },
  validateResponses: false,
};

const key = { scheme: 'key', roles: [] };
const login = { scheme: 'login', roles: ['admin'] };

test('a scheme without a function is refused at once', () => {
  const { key: _, ...others } = authenticate;
  expect(() => contractRouter({ ...options, operations: [operation([key])], authenticate: others })).toThrow(
    'The security scheme "key" has no function in authenticate.',
  );
});

test('one function for all schemes cannot find several callers', () => {
  const operations = [operation([{ ...key, and: [login] }])];
  expect(() => contractRouter({ ...options, operations, authenticate: async () => undefined })).toThrow(
    'Operation getItems combines security schemes',
  );
});

test('the kind of the caller follows from the scheme, and admins have the role admin', async () => {
  const server = await serve(contractRouter({ ...options, operations: [operation([key, login])], authenticate }));
  const get = async (headers: Record<string, string>): Promise<unknown> =>
    (await fetch(`${server.url}/items`, { headers })).json();
  expect(await get({ 'x-key': 'good' })).toEqual({ id: 'good', kind: 'robot' });
  expect(await get({ authorization: `Basic ${btoa('ada:secret')}` })).toMatchObject({ id: 'ada', kind: 'person' });
  await server.close();
});

test('failed credentials of every scheme count towards one limit', async () => {
  const limits = createRateLimiter({ perMinute: 100, tightPerMinute: 3 });
  const server = await serve(
    contractRouter({ ...options, operations: [operation([key, login])], authenticate, limits }),
  );
  const statuses: number[] = [];
  const credentials: readonly Record<string, string>[] = [
    { 'x-key': 'a' },
    { 'x-key': 'b' },
    { authorization: `Basic ${btoa('ada:x')}` },
    { 'x-key': 'c' },
  ];
  for (const headers of credentials) statuses.push((await fetch(`${server.url}/items`, { headers })).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  await server.close();
});

test('a response with write-only properties is validated in production too', async () => {
  const validate: Validator = (body) => !Object.hasOwn(body as object, 'password');
  const responses = { 200: { contentTypes: ['application/json'], validate, isGuarded: true } } as const;
  const handlers = { getItems: async () => ({ status: 200, body: { password: 'x' } }) };
  const server = await serve(
    contractRouter({ ...options, handlers, operations: [{ ...operation([]), responses }], authenticate }),
  );
  const response = await fetch(`${server.url}/items`);
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('password')]);
  await server.close();
});
