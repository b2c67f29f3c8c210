import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import type { Caller } from '../../src/http/security.js';
import type { IdempotencyStore } from '../../src/rest/handle-operation.js';
import type { HandlerRequest, HandlerResponse } from '../../src/rest/operation.js';
import { contractDocument, contractRouter } from '../../src/rest/router.js';
import { serve, type TestServer } from '../serve.js';
import { sampleOperations } from './sample-operations.js';

const ada = { personId: 'p1', username: 'ada', isAdmin: false };
/** Callers of an application, which have more properties than the server reads. */
const callers: Readonly<Record<string, Caller & { readonly sessionId?: string; readonly consumer?: string }>> = {
  session: { kind: 'session', sessionId: 's1', ...ada },
  admin: { kind: 'session', sessionId: 's2', ...ada, isAdmin: true },
  reader: { kind: 'token', tokenId: 't1', scopes: ['read'], ...ada },
  writer: { kind: 'token', tokenId: 't2', scopes: ['read', 'write'], ...ada },
  consumer: { kind: 'consumer_token', tokenId: 't3', consumer: 'ci' },
};

async function authenticate({ headers }: IncomingMessage): Promise<Caller | undefined> {
  const name = headers.authorization;
  if (name === undefined) return undefined;
  const caller = callers[name];
  if (caller === undefined) throw new AppError('unauthenticated', 'Expected a token that is valid.');
  return caller;
}

let answerOf: Partial<Record<string, (request: HandlerRequest) => HandlerResponse>>;

/** Functions that a handler awaits before it returns. */
let waitOf: Partial<Record<string, (request: HandlerRequest) => Promise<void>>>;

/** Returns its input, unless a test replaces the result. */
const echo = async (id: string, status: number, request: HandlerRequest): Promise<HandlerResponse> => {
  await waitOf[id]?.(request);
  const { params, query, headers, body } = request;
  return answerOf[id]?.(request) ?? { status, body: { params, query, headers, body } };
};

const handlers = {
  listNotes: (request: HandlerRequest) => echo('listNotes', 200, request),
  createNote: (request: HandlerRequest) => echo('createNote', 201, request),
  readNote: (request: HandlerRequest) => echo('readNote', 200, request),
  deleteNote: async () => ({ status: 204 }),
  countNotes: (request: HandlerRequest) => echo('countNotes', 200, request),
  renameFolder: (request: HandlerRequest) => echo('renameFolder', 200, request),
  readValue: async () => ({ status: 200, body: new Uint8Array([0, 255, 1]), headers: { 'X-Version': '7' } }),
};

const schemes = { session: 'session', token: 'token', consumerToken: 'consumer_token' } as const;
const replays: IdempotencyStore = { answerOnce: (_request, answer) => answer() };
const options = {
  basePath: '/api',
  revision: 'r7',
  operations: sampleOperations,
  handlers,
  schemes,
  authenticate,
  replays,
  validateResponses: true,
};

let server: TestServer;

beforeAll(async () => {
  server = await serve(contractRouter(options));
});
afterAll(() => server.close());
beforeEach(() => {
  answerOf = {};
  waitOf = {};
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function call(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${server.url}/api${path}`, { method, ...init });
  const text = await response.text();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

function post(body: BodyInit | null, headers: Record<string, string> = {}): Promise<Answer> {
  const init = { body, headers: { 'content-type': 'application/json', authorization: 'session', ...headers } };
  return call('POST', '/notes', init);
}

describe('contract router', () => {
  describe('matching', () => {
    test('prefers a static segment to a parameter', async () => {
      answerOf.countNotes = () => ({ status: 200, body: 3 });
      expect((await call('GET', '/notes/count')).body).toBe(3);
    });

    test('decodes path parameters, including an escaped slash', async () => {
      expect((await call('GET', '/notes/a%2Fb%20%C3%A9')).body).toMatchObject({ params: { id: 'a/b é' } });
    });

    test('assigns the rest of the path to a rest parameter', async () => {
      expect((await call('PUT', '/folders/a/b%20c')).body).toMatchObject({ params: { name: 'a/b c' } });
    });

    test.each([
      ['an unknown path', '/nothing'],
      ['a trailing slash', '/notes/'],
      ['an empty rest', '/folders/'],
      ['a different case', '/Notes'],
      ['the base path itself', ''],
    ])('responds with 404 to %s', async (_reason, path) => {
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    test('passes paths outside of its base path to the next handler', async () => {
      const response = await fetch(`${server.url}/apix`);
      expect(await response.json()).toMatchObject({
        error: 'No page or operation at this path.',
      });
    });

    test('responds with 405 and the methods of the path', async () => {
      const { status, headers, body } = await call('PATCH', '/notes');
      expect({ status, allow: headers.get('allow'), code: body.code }).toEqual({
        status: 405,
        allow: 'GET, POST, HEAD, OPTIONS',
        code: 'method_not_allowed',
      });
    });

    test('responds to OPTIONS with the methods of the path', async () => {
      const { status, headers } = await call('OPTIONS', '/notes/7');
      expect([status, headers.get('allow')]).toEqual([204, 'GET, DELETE, HEAD, OPTIONS']);
    });

    test('responds to HEAD like GET, without the body', async () => {
      const get = await call('GET', '/notes/7');
      const head = await call('HEAD', '/notes/7');
      expect([head.status, head.headers.get('content-length')]).toEqual([200, get.headers.get('content-length')]);
      expect(head.body).toEqual({});
    });

    test.each([['%'], ['%zz'], ['%E9'], ['%00']])('responds with 400 to the escape %s', async (escape) => {
      expect(await call('GET', `/notes/${escape}`)).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    });
  });

  describe('security', () => {
    test.each([
      ['no credential', undefined, 401, 'unauthenticated'],
      ['an invalid credential', 'nobody', 401, 'unauthenticated'],
      ['a session without the role', 'session', 403, 'forbidden'],
      ['a token without the scope', 'reader', 403, 'forbidden'],
      ['a consumer token', 'consumer', 401, 'unauthenticated'],
    ])('rejects %s', async (_reason, authorization, status, code) => {
      const answer = await call('DELETE', '/notes/7', {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(answer).toMatchObject({ status, body: { code } });
      expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    });

    test.each(['admin', 'writer'])('admits the %s', async (authorization) => {
      expect((await call('DELETE', '/notes/7', { headers: { authorization } })).status).toBe(204);
    });

    test('rejects a token with session_required if a session is required', async () => {
      expect(await post('{"title":"x"}', { authorization: 'writer' })).toMatchObject({
        status: 403,
        body: { code: 'session_required' },
      });
    });

    test('rejects a request before it reads the body', async () => {
      expect((await post('{', { authorization: 'nobody' })).status).toBe(401);
    });

    test('ignores the credential of a public operation', async () => {
      expect((await call('GET', '/notes', { headers: { authorization: 'nobody' } })).status).toBe(200);
    });

    test('rejects a contract with an unknown scheme', () => {
      expect(() => contractRouter({ ...options, schemes: {} })).toThrow('unknown security scheme "session"');
    });

    test('rejects a contract without a handler', () => {
      const rest = { ...handlers, deleteNote: undefined };
      expect(() => contractRouter({ ...options, handlers: rest })).toThrow('Operation deleteNote has no handler.');
    });
  });

  describe('parameters', () => {
    test('are converted to the types of the contract', async () => {
      const { body } = await call('GET', '/notes?limit=7&ratio=-0.5&drafts=true&tag=a&tag=b&q=x+y%26&other=1', {
        headers: { 'x-note': 'hello' },
      });
      expect(body).toMatchObject({
        query: { limit: 7, ratio: -0.5, drafts: true, tag: ['a', 'b'], q: 'x y&' },
        headers: { 'X-Note': 'hello' },
      });
    });

    test('are omitted if absent, or if a number is empty', async () => {
      expect((await call('GET', '/notes?limit=')).body).toMatchObject({ query: {}, headers: {} });
    });

    test.each([
      ['a word for an integer', 'limit=ten', 'limit'],
      ['a fraction for an integer', 'limit=1.5', 'limit'],
      ['a padded integer', 'limit=007', 'limit'],
      ['an integer that is not exact', 'limit=9007199254740993', 'limit'],
      ['an integer above its maximum', 'limit=501', 'limit'],
      ['an endless number', 'ratio=1e999', 'ratio'],
      ['a number in hexadecimal', 'ratio=0x10', 'ratio'],
      ['yes for true', 'drafts=yes', 'drafts'],
      ['a repeated scalar', 'limit=1&limit=2', 'limit'],
    ])('are rejected for %s', async (_reason, query, field) => {
      expect(await call('GET', `/notes?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_input', field },
      });
    });

    test('above a limit are rejected with 422 if the operation documents it', async () => {
      expect(await call('GET', '/notes?q=123456789')).toMatchObject({
        status: 422,
        body: {
          code: 'unprocessable',
          error: 'Expected q to have at most 8 characters; received "123456789".',
          field: 'q',
        },
      });
    });

    test('are always rejected with 422 if the operation documents no 400', async () => {
      expect((await call('PUT', '/folders/much-too-long-a-name')).status).toBe(422);
    });

    test('in headers are validated, and not repeated in the message', async () => {
      const { status, body } = await call('GET', '/notes', { headers: { 'x-note': 'S3CRET' } });
      expect([status, body.field]).toEqual([400, 'X-Note']);
      expect(body.error).not.toContain('S3CRET');
    });
  });

  describe('bodies', () => {
    test('reach the handler as parsed values', async () => {
      const body = { title: 'é', lines: [{ n: 1 }] };
      expect(await post(JSON.stringify(body))).toMatchObject({ status: 201, body: { body } });
    });

    test('may be absent if they are optional', async () => {
      expect(await call('PUT', '/folders/a')).toMatchObject({ status: 200 });
    });

    test.each([
      ['a missing property', { kind: 'a' }, 'title', 'The field "title" is required.'],
      ['a wrong type', { title: 7 }, 'title', 'Expected title to be of type string; received 7.'],
      ['an unknown property', { title: 'x', more: 1 }, 'more', 'Expected more to be absent; received 1.'],
      [
        'a value outside an enum',
        { title: 'x', kind: 'c' },
        'kind',
        'Expected kind to be one of a, b; received 1 character.',
      ],
      [
        'a long text of emojis',
        { title: '😀'.repeat(21) },
        'title',
        'Expected title to have at most 20 characters; received 21 characters.',
      ],
      ['a property that must be absent', { title: 'x', old: 1 }, 'old', 'Expected old to be absent; received 1.'],
      [
        'a part of a step',
        { title: 'x', price: 0.7 },
        'price',
        'Expected price to be a multiple of 0.5; received 0.7.',
      ],
      ['a street without a town', { title: 'x', street: 'y' }, 'town', 'The field "town" is required beside "street".'],
      ['a nested error', { title: 'x', lines: [{ n: 1 }, {}] }, 'lines.1.n', 'The field "lines.1.n" is required.'],
      ['a list', [], 'body', 'Expected the body to be of type object; received a list of 0.'],
    ])('are rejected with the field for %s', async (_reason, value, field, error) => {
      expect(await post(JSON.stringify(value))).toMatchObject({
        status: 400,
        body: { code: 'invalid_input', field, error },
      });
    });

    test.each([
      ['no text', ''],
      ['half an object', '{"title":'],
      ['a lone brace', '}'],
      ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
      ['an escaped NUL', '{"title":"a\\u0000"}'],
      ['__proto__', '{"title":"x","__proto__":{"admin":true}}'],
      ['a nested __proto__', '{"title":"x","lines":[{"__proto__":null}]}'],
      ['deep nesting', '['.repeat(90) + ']'.repeat(90)],
    ])('are malformed if they contain %s', async (_reason, body) => {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    });

    test.each([
      ['a different type', { 'content-type': 'text/plain' }],
      ['a type that only starts like an expected one', { 'content-type': 'application/jsonp' }],
      ['two types in one header', { 'content-type': 'text/plain, application/json' }],
      ['a type in a parameter', { 'content-type': 'text/plain; application/json' }],
      ['two types after a quoted parameter', { 'content-type': 'application/json; a=","; b, text/plain' }],
      ['a quotation mark without an end', { 'content-type': 'application/json; a="b' }],
      ['a different charset', { 'content-type': 'application/json; charset=utf-16' }],
      [
        'a different charset after a quoted one',
        { 'content-type': 'application/json; a="; charset=utf-8"; charset=a' },
      ],
      ['a compressed body', { 'content-encoding': 'gzip' }],
    ])('are rejected with 415 for %s', async (_reason, headers) => {
      expect(await post('{"title":"x"}', headers)).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
    });

    test.each([
      'Application/JSON; charset="UTF-8"',
      'application/json; charset="utf\\-8"',
      'application/json; title="a, b; charset=utf-16, \\"c\\""; charset=utf-8',
    ])('may have the Content-Type %s', async (type) => {
      expect((await post('{"title":"x"}', { 'content-type': type })).status).toBe(201);
    });

    test('with a declared length above the limit are rejected with 413', async () => {
      expect(await post(JSON.stringify({ title: 'x'.repeat(1_000) }))).toMatchObject({
        status: 413,
        body: { code: 'too_large' },
      });
    });

    test.each([
      [1_000, 201],
      [1_001, 413],
    ])('of %i bytes without a declared length, with a limit of 1,000, get %i', async (bytes, status) => {
      const text = '{"title":"x"}'.padEnd(bytes);
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        },
      });
      const init = { body, duplex: 'half', headers: { 'content-type': 'application/json', authorization: 'session' } };
      expect((await call('POST', '/notes', init as RequestInit)).status).toBe(status);
    });

    test('without a declared length are rejected with 413 above the limit', async () => {
      const chunk = new TextEncoder().encode('x'.repeat(400));
      const body = new ReadableStream({
        pull: (controller) => controller.enqueue(chunk),
      });
      const init = { body, duplex: 'half', headers: { 'content-type': 'application/json', authorization: 'session' } };
      expect(await call('POST', '/notes', init as RequestInit)).toMatchObject({
        status: 413,
        body: { code: 'too_large' },
      });
    });
  });

  describe('responses', () => {
    test('contain bytes and headers unchanged', async () => {
      const response = await fetch(`${server.url}/api/notes/7/value`, { headers: { authorization: 'consumer' } });
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([0, 255, 1]));
      expect(response.headers.get('x-version')).toBe('7');
      expect(response.headers.get('content-type')).toBe('application/octet-stream');
    });

    test('have a header for each cookie', async () => {
      const cookies = ['a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT', 'b=2; Path=/'];
      answerOf.countNotes = () => ({ status: 200, body: 3, headers: { 'Set-Cookie': cookies } });
      expect((await call('GET', '/notes/count')).headers.getSetCookie()).toEqual(cookies);
    });

    test('have the revision of the contract', async () => {
      expect((await call('GET', '/notes')).headers.get('x-trellis-revision')).toBe('r7');
    });

    test('are conditional only if the contract documents 304', async () => {
      answerOf.countNotes = () => ({ status: 200, body: 3 });
      const first = await call('GET', '/notes/count');
      expect(first.headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
      const headers = { 'if-none-match': first.headers.get('etag')! };
      expect((await call('GET', '/notes/count', { headers })).status).toBe(304);
      expect((await call('GET', '/notes')).headers.get('etag')).toBeNull();
    });

    test.each(['"v7"', 'W/"v7"'])('keep the ETag %s that the handler sets', async (etag) => {
      answerOf.countNotes = () => ({ status: 200, body: 3, headers: { ETag: etag } });
      expect((await call('GET', '/notes/count')).headers.get('etag')).toBe(etag);
      const headers = { 'if-none-match': '"v6", "v7"' };
      expect((await call('GET', '/notes/count', { headers })).status).toBe(304);
    });

    test('cause no internal error in the log when the client closes the connection', async () => {
      const client = new AbortController();
      let hasStopped = (): void => undefined;
      const stopped = new Promise<void>((resolve) => (hasStopped = resolve));
      waitOf.countNotes = async ({ signal }) => {
        client.abort();
        await once(signal, 'abort');
        hasStopped();
        signal.throwIfAborted();
      };
      await expect(call('GET', '/notes/count', { signal: client.signal })).rejects.toThrow('aborted');
      await stopped;
      await call('GET', '/notes');
      expect(server.lines.filter(({ level }) => level === 50)).toEqual([]);
    });

    test('have no ETag if they are errors, because each has its own request id', async () => {
      const { status, headers } = await call('GET', '/notes/count', { headers: { authorization: 'nothing' } });
      expect([status >= 400, headers.get('etag')]).toEqual([true, null]);
    });

    test('are not stored by caches', async () => {
      expect((await call('GET', '/notes')).headers.get('cache-control')).toBe('no-store');
    });

    test('are rejected with 406 if the client accepts only other types', async () => {
      const answer = await call('GET', '/notes', { headers: { accept: 'text/html' } });
      expect(answer).toMatchObject({ status: 406, body: { code: 'not_acceptable' } });
    });

    test.each([
      ['*/*'],
      ['application/*;q=0.5'],
      ['text/html, application/json;q=0.1'],
      ['application/json; charset=utf-8'],
      ['application/json; version=2'],
    ])('are sent to a client that accepts %s', async (accept) => {
      expect((await call('GET', '/notes', { headers: { accept } })).status).toBe(200);
    });

    test.each([
      ['an invalid body', (): HandlerResponse => ({ status: 200, body: 'three' })],
      ['an undocumented status', (): HandlerResponse => ({ status: 202, body: 3 })],
      ['a missing body', (): HandlerResponse => ({ status: 200 })],
      [
        'an undocumented error',
        (): HandlerResponse => {
          throw new AppError('conflict', 'There is one already.');
        },
      ],
      [
        'an internal error',
        (): HandlerResponse => {
          throw new Error('S3CRET');
        },
      ],
    ])('of a handler with %s are logged and shown as internal', async (_reason, handler) => {
      answerOf.countNotes = handler;
      const { status, body } = await call('GET', '/notes/count');
      expect([status, body.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toContain('S3CRET');
      expect(server.lines).toContainEqual(
        expect.objectContaining({ msg: 'internal error', requestId: body.requestId }),
      );
    });
  });

  describe('every request', () => {
    test('has a request id of the server in the header, in the error body and in the log', async () => {
      const { headers, body } = await call('GET', '/nothing', { headers: { 'x-request-id': 'mine' } });
      const requestId = headers.get('x-request-id');
      expect(requestId).toMatch(/^[\da-f-]{36}$/);
      expect(body.requestId).toBe(requestId);
      expect(server.lines).toContainEqual(expect.objectContaining({ requestId, status: 404, method: 'GET' }));
    });

    test('has one log line with the operation and the caller, without a credential', async () => {
      const { headers } = await call('DELETE', '/notes/7', {
        headers: { authorization: 'writer', cookie: 'session=S3CRET' },
      });
      const own = server.lines.filter(({ requestId }) => requestId === headers.get('x-request-id'));
      expect(own).toEqual([expect.objectContaining({ operation: 'deleteNote', status: 204, caller: 'token:t2' })]);
      expect(JSON.stringify(own)).not.toContain('S3CRET');
    });

    test('gets a response with security headers', async () => {
      const { headers } = await call('GET', '/notes');
      expect(headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-powered-by')).toBeNull();
    });
  });
});

describe('contractRouter in trouble', () => {
  test('responds with 503 when an operation takes longer than the limit', async () => {
    const server = await serve(contractRouter({ ...options, limitMs: 50 }));
    waitOf = { listNotes: () => new Promise(() => undefined) };
    const response = await fetch(`${server.url}/api/notes`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining('within 0.05 seconds') as string,
    });
    await server.close();
  });

  test.each([
    [13, 'the disk is full', '30'],
    [5, 'another process has locked the database', '1'],
  ])('names the fault of SQLite error %i in the response and in the log', async (errcode, reason, retryAfter) => {
    const server = await serve(contractRouter(options));
    waitOf = { listNotes: () => Promise.reject(Object.assign(new Error('x'), { errcode })) };
    const response = await fetch(`${server.url}/api/notes`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, retryAfter]);
    expect(await response.json()).toMatchObject({
      code: 'unavailable',
      error: expect.stringContaining(reason) as string,
    });
    expect(server.lines.map(({ msg }) => msg)).toContain(`storage fault: ${reason}`);
    await server.close();
  });
});

test('a contract is served at the path of its server, also with characters of patterns', async () => {
  const path = '/rest/Train+Travel+API/(1.0.*)/openapi.json';
  const file = new URL('../../package.json', import.meta.url);
  const one = await serve(contractDocument(path, file, { isHttps: false }).handler);
  try {
    expect(await (await fetch(one.url + path)).json()).toMatchObject({ name: '@trellis/server' });
    expect((await fetch(`${one.url}/rest/TrainnTravelAPI/1.0./openapi.json`)).status).toBe(404);
  } finally {
    await one.close();
  }
});
