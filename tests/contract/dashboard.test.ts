import { EMPTY_SNAPSHOT } from '../../src/dashboard/board.js';
import { createDashboardClient } from '../../src/generated/dashboard/client.js';
import type { DashboardClient } from '../../src/generated/dashboard/client.js';
import { pullRequest } from '../dashboard/pull-request.js';
import { ORIGIN, startContractServer } from './contract-server.js';
import type { ContractServer } from './contract-server.js';

const DAY = 86_400_000;

let server: ContractServer;
let ada: Awaited<ReturnType<ContractServer['addPerson']>>;

beforeEach(async () => {
  server = await startContractServer();
  ada = await server.addPerson('ada');
});
afterEach(() => server.close());

/** A client that says who it is by token, or, like a page of ours, by cookie. */
function client(credential: { readonly token?: string; readonly cookie?: string } = {}): DashboardClient {
  const { token = '', cookie } = credential;
  const options = { token, retry: { maxRetries: 0 } };
  if (cookie === undefined) return createDashboardClient(server.url, options);
  const fetchWithCookie = (request: Request): Promise<Response> => {
    request.headers.set('cookie', cookie);
    request.headers.set('origin', ORIGIN);
    return fetch(request);
  };
  return createDashboardClient(server.url, { ...options, fetch: fetchWithCookie });
}

const expiresAt = (): string => new Date(Date.now() + 30 * DAY).toISOString();

describe('getHealth', () => {
  test('answers anybody', async () => {
    expect((await client().GET('/healthz')).data).toEqual({ status: 'ok' });
  });

  test('is refused to a client that takes no JSON', async () => {
    const { error, response } = await client().GET('/healthz', { headers: { accept: 'text/html' } });
    expect([response.status, error?.code]).toEqual([406, 'not_acceptable']);
  });
});

describe('getReadiness', () => {
  test('answers while the database does', async () => {
    const { data } = await client().GET('/readyz');
    expect(data).toMatchObject({ status: 'ok' });
    expect(data!.goroutines).toBeGreaterThan(0);
  });

  test('is refused once the server is told to stop', async () => {
    server.readiness.stop();
    const { error, response } = await client().GET('/readyz');
    expect([response.status, error]).toMatchObject([503, { code: 'unavailable' }]);
  });
});

describe('getVersion', () => {
  test('answers anybody', async () => {
    expect((await client().GET('/api/version')).data).toEqual({ version: '1.2.3' });
  });

  test('is refused to a client that takes no JSON', async () => {
    const { response } = await client().GET('/api/version', { headers: { accept: 'image/png' } });
    expect(response.status).toBe(406);
  });
});

describe('getDashboard', () => {
  test('answers an empty board before the first refresh', async () => {
    const { data } = await client(ada).GET('/api/dashboard');
    expect(data).toMatchObject({ pullRequests: [], forges: [], hiddenDrafts: 0, openIssueCount: 0 });
    expect(data!.generatedAt).toBe(ada.person.createdAt.toISOString());
  });

  test('answers what was found, drafts on demand', async () => {
    const pullRequests = [pullRequest(), pullRequest({ number: 18, draft: true })];
    await server.dashboard.boards.save(ada.person.id, { ...EMPTY_SNAPSHOT, pullRequests });
    const { data } = await client(ada).GET('/api/dashboard');
    expect(data).toMatchObject({ pullRequests: [{ repo: 'acme/shop', number: 17, ci: 'success' }], hiddenDrafts: 1 });
    const whole = await client(ada).GET('/api/dashboard', { params: { query: { includeDrafts: true } } });
    expect([whole.data?.pullRequests.length, whole.data?.hiddenDrafts]).toEqual([2, 0]);
  });

  test('answers a token that may read', async () => {
    const token = await server.issueToken('personal', ada.person);
    expect((await client({ token }).GET('/api/dashboard')).response.status).toBe(200);
  });

  test('answers 304 to a reader who has it', async () => {
    const { response } = await client(ada).GET('/api/dashboard');
    const params = { header: { 'If-None-Match': response.headers.get('etag')! } };
    const again = await client(ada).GET('/api/dashboard', { params });
    expect([again.response.status, again.response.headers.get('etag')]).toEqual([304, response.headers.get('etag')]);
  });

  test('answers the board of someone who shares it', async () => {
    const bob = await server.addPerson('bob');
    await server.dashboard.boards.save(ada.person.id, { ...EMPTY_SNAPSHOT, pullRequests: [pullRequest()] });
    const username = 'bob';
    await client(ada).PUT('/api/sharing/{username}', { params: { path: { username } } });
    const { data } = await client(bob).GET('/api/dashboard', { params: { query: { owner: 'ADA' } } });
    expect(data?.pullRequests).toHaveLength(1);
  });

  test.each([
    ['someone who does not share', 'ada', 403, 'forbidden'],
    ['nobody', 'mona', 404, 'not_found'],
  ])('is refused for the board of %s', async (_reason, owner, status, code) => {
    const bob = await server.addPerson('bob');
    const { error, response } = await client(bob).GET('/api/dashboard', { params: { query: { owner } } });
    expect([response.status, error]).toMatchObject([status, { code }]);
  });

  test.each([
    ['no credential', {}],
    ['a malformed token', { token: 'trl_x' }],
    ['a cookie of no session', { cookie: 'trellis_session=stale' }],
  ])('is refused to %s', async (_reason, credential) => {
    const { error, response } = await client(credential).GET('/api/dashboard');
    expect([response.status, error?.code]).toEqual([401, 'unauthenticated']);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('is refused to a token of the secrets service', async () => {
    const token = await server.issueToken('write', ada.person);
    expect((await client({ token }).GET('/api/dashboard')).response.status).toBe(401);
  });
});

describe('createToken', () => {
  test('answers a token that works at once, and says so in the list', async () => {
    const body = { label: 'nightly report', expiresAt: expiresAt(), scopes: ['read' as const] };
    const { data, response } = await client(ada).POST('/api/tokens', { body });
    expect(response.status).toBe(201);
    const { token, ...record } = data!;
    expect((await client({ token }).GET('/api/dashboard')).response.status).toBe(200);
    const { data: listed } = await client({ token }).GET('/api/tokens');
    expect(listed).toEqual([{ ...record, lastUsedAt: expect.any(String) as string }]);
  });

  test('answers a repeat under the same key like the first', async () => {
    const soon = expiresAt();
    const create = (label: string, key: string) => {
      const params = { header: { 'Idempotency-Key': key } };
      return client(ada).POST('/api/tokens', { params, body: { label, expiresAt: soon } });
    };
    const first = await create('x', 'k1');
    expect(await create('x', 'k1')).toMatchObject({ data: first.data, response: { status: 201 } });
    expect((await create('y', 'k1')).error).toMatchObject({ code: 'invalid_input', field: 'Idempotency-Key' });
    await create('x', 'k2');
    expect((await client(ada).GET('/api/tokens')).data).toHaveLength(2);
  });

  test('is refused to a token', async () => {
    const token = await server.issueToken('personal', ada.person);
    const { error, response } = await client({ token }).POST('/api/tokens', {
      body: { label: 'x', expiresAt: expiresAt() },
    });
    expect([response.status, error?.code]).toEqual([403, 'session_required']);
  });

  test.each([
    ['a blank label', { label: ' ', expiresAt: expiresAt() }, 'label'],
    ['a date that is none', { label: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
    ['a date in the past', { label: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['a date too far', { label: 'x', expiresAt: '2099-01-01T00:00:00Z' }, 'expiresAt'],
  ])('is refused for %s', async (_reason, body, field) => {
    const { error, response } = await client(ada).POST('/api/tokens', { body });
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_input', field }]);
  });

  test('is refused when another site sends it with the cookie', async () => {
    const response = await fetch(`${server.url}/api/tokens`, {
      method: 'POST',
      headers: { cookie: ada.cookie, origin: 'https://evil.example', 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'x', expiresAt: expiresAt() }),
    });
    expect([response.status, await response.json()]).toMatchObject([403, { code: 'cross_site' }]);
  });
});

describe('listTokens', () => {
  test("answers the caller's own", async () => {
    expect((await client(ada).GET('/api/tokens')).data).toEqual([]);
  });

  test('is refused without a credential', async () => {
    expect((await client().GET('/api/tokens')).response.status).toBe(401);
  });
});

describe('revokeToken', () => {
  test('ends a token at once, and minds no unknown id', async () => {
    const { data } = await client(ada).POST('/api/tokens', { body: { label: 'x', expiresAt: expiresAt() } });
    const { id, token } = data!;
    const revoke = () => client(ada).DELETE('/api/tokens/{id}', { params: { path: { id } } });
    expect([(await revoke()).response.status, (await revoke()).response.status]).toEqual([204, 204]);
    expect((await client({ token }).GET('/api/tokens')).response.status).toBe(401);
  });

  test('is refused to a token', async () => {
    const token = await server.issueToken('personal', ada.person);
    const { error } = await client({ token }).DELETE('/api/tokens/{id}', { params: { path: { id: 'x' } } });
    expect(error?.code).toBe('session_required');
  });
});
