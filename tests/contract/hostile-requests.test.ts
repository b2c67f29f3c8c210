import { sendRaw } from '../server/raw-request.js';
import { ORIGIN, startContractServer, type ContractServer } from './contract-server.js';

let server: ContractServer;
let cookie: string;

beforeAll(async () => {
  server = await startContractServer();
  ({ cookie } = await server.addPerson('ada'));
});
afterAll(() => server.close());

/** After each hostile request, the server must still handle the next one. */
afterEach(async () => {
  const { status, body } = await sendRaw(server.port, request('GET', '/healthz'));
  expect([status, body]).toEqual([200, { status: 'ok' }]);
});

function request(method: string, target: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
  const all = ['Host: localhost', `Cookie: ${cookie}`, `Origin: ${ORIGIN}`, ...length, ...headers];
  return `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

const json = 'Content-Type: application/json';
const post = (body: string, headers: readonly string[] = [json]): string =>
  request('POST', '/api/tokens', headers, body);
const delivery = (token: string, body: string, headers: readonly string[] = []): string =>
  request('POST', `/api/webhooks/github/${token}`, [json, ...headers], body);
const valid = JSON.stringify({ label: 'x', expiresAt: new Date(Date.now() + 86_400_000).toISOString() });

test('The dashboard accepts the valid request that the hostile ones are derived from', async () => {
  expect((await sendRaw(server.port, post(valid))).status).toBe(201);
});

describe('The dashboard responds with a 4xx status and the error body', () => {
  const escaped = (target: string): string => request('GET', target);
  const chunked = (body: string): string =>
    request('POST', '/api/tokens', [json, 'Transfer-Encoding: chunked']).concat(body);

  test.each<[string, number, () => string]>([
    ['an unfinished escape in the path', 400, () => escaped('/api/tokens/%4')],
    ['an escape that is not UTF-8', 400, () => escaped('/api/%ff%fe')],
    ['an overlong escape of a slash', 400, () => escaped('/api/tokens/%c0%af')],
    ['NUL in the path', 400, () => request('DELETE', '/api/tokens/a%00b')],
    ['NUL in the query', 400, () => escaped('/api/dashboard?owner=a%00')],
    ['a bad escape in the query', 400, () => escaped('/api/dashboard?owner=%zz')],
    ['a scalar twice', 400, () => escaped('/api/dashboard?owner=a&owner=b')],
    ['a list where a scalar belongs', 400, () => escaped('/api/dashboard?includeDrafts=true&includeDrafts=true')],
    ['an invalid boolean', 400, () => escaped('/api/dashboard?includeDrafts=1')],
    ['a text beyond its limit', 400, () => escaped(`/api/dashboard?owner=${'a'.repeat(65)}`)],
    ['an endless query', 400, () => escaped(`/api/dashboard?${'a=1&'.repeat(8_000)}`)],
    ['a path with ..', 404, () => escaped('/api/../../etc/passwd')],
    ['an escaped path with ..', 404, () => escaped('/api/%2e%2e%2fetc%2fpasswd')],
    ['a double slash', 404, () => escaped('//api/tokens')],
    ['a property of Object.prototype as path', 404, () => escaped('/api/__proto__')],
    ['a webhook with a path in its token', 400, () => delivery('..%2f..%2fetc', '{}')],
    ['a webhook of an unknown forge', 404, () => request('POST', '/api/webhooks/__proto__/x', [json], '{}')],
    ['a delivery with an unknown webhook token', 404, () => delivery('x'.repeat(22), '{}')],
    [
      'a signature that is too long',
      400,
      () => delivery('x', '{}', [`X-Hub-Signature-256: sha256=${'0'.repeat(300)}`]),
    ],
    ['an id that violates its pattern', 400, () => request('DELETE', '/api/tokens/..%2f..')],
    ['a known but unsupported method', 405, () => request('TRACE', '/api/tokens')],
    ['a WebDAV method', 405, () => request('PROPFIND', '/api/tokens')],
    ['CONNECT', 405, () => 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n'],
    ['an unknown method', 400, () => request('GRAB', '/api/tokens')],
    ['headers that are too long', 431, () => request('GET', '/api/tokens', [`X-Long: ${'a'.repeat(70_000)}`])],
    ['a header without a name', 400, () => request('GET', '/api/tokens', [': nothing'])],
    ['NUL in a header', 400, () => request('GET', '/api/tokens', ['X-Nul: a\0b'])],
    ['no host', 400, () => 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two hosts', 400, () => request('GET', '/healthz', ['Host: evil.example'])],
    [
      'two credentials',
      400,
      () => request('GET', '/api/tokens', ['Authorization: Bearer a', 'Authorization: Bearer b']),
    ],
    ['a message that is not HTTP', 400, () => 'HELO trellis\r\n\r\n'],
    ['a credential of a different scheme', 401, () => request('GET', '/api/tokens', ['Authorization: Basic YTpi'])],
    [
      'a credential that is too long',
      401,
      () => request('GET', '/api/tokens', [`Authorization: Bearer ${'a'.repeat(9_000)}`]),
    ],
    [
      'an Accept header without an available type',
      406,
      () => request('GET', '/api/tokens', ['Accept: text/html;q=0.1']),
    ],
    ['an empty body', 400, () => request('POST', '/api/tokens', [json])],
    ['an empty chunked body', 400, () => chunked('0\r\n\r\n')],
    ['broken JSON', 400, () => post('{"label":')],
    ['JSON with a comment', 400, () => post(`/* */ ${valid}`)],
    ['JSON in Latin-1', 400, () => post('{"label":"\xe9"}')],
    ['a scalar as body', 400, () => post('null')],
    ['deep nesting', 400, () => post('['.repeat(8_000) + ']'.repeat(8_000))],
    ['__proto__ in the body', 400, () => post(valid.replace('{', '{"__proto__":{"isAdmin":true},'))],
    ['constructor in the body', 400, () => post(valid.replace('{', '{"constructor":{"prototype":{"x":1}},'))],
    ['NUL in the body', 400, () => post(valid.replace('"x"', '"\\u0000"'))],
    ['a number instead of a text', 400, () => post(valid.replace('"x"', '1e400'))],
    ['a body of a different type', 415, () => post(valid, ['Content-Type: text/plain'])],
    ['a body without a type', 415, () => post(valid, [])],
    ['a form', 415, () => post('label=x', ['Content-Type: application/x-www-form-urlencoded'])],
    ['a type hidden in a parameter', 415, () => post(valid, ['Content-Type: text/plain;application/json'])],
    ['two types', 400, () => post(valid, [json, 'Content-Type: text/plain'])],
    ['a compressed body', 415, () => post(valid, [json, 'Content-Encoding: gzip'])],
    ['a body that is too long', 413, () => post(`{"label":"${'x'.repeat(20_000)}"}`)],
    [
      'a length that is too large, without a body',
      413,
      () => request('POST', '/api/tokens', [json, 'Content-Length: 99999999']),
    ],
    ['chunks that are too long', 413, () => chunked(`7530\r\n${'x'.repeat(30_000)}\r\n0\r\n\r\n`)],
    ['a chunk with an invalid size', 400, () => chunked('zz\r\nx\r\n0\r\n\r\n')],
    ['a length and chunks at once', 400, () => post('0\r\n\r\n', [json, 'Transfer-Encoding: chunked'])],
    ['a negative length', 400, () => request('POST', '/api/tokens', [json, 'Content-Length: -1'])],
    ['two lengths', 400, () => post(valid, [json, 'Content-Length: 3'])],
  ])('to %s', async (_reason, status, make) => {
    const answer = await sendRaw(server.port, make());
    expect(answer).toEqual({
      status,
      body: expect.objectContaining({
        error: expect.any(String) as string,
        code: expect.any(String) as string,
        requestId: expect.any(String) as string,
      }) as object,
    });
  });
});

// The server runs in this process, so it uses the same Object.prototype.
test('Hostile requests do not change Object.prototype', () => {
  expect({}).not.toHaveProperty('isAdmin');
  expect({}).not.toHaveProperty('x');
});

test('Hostile requests cause no internal errors', () => {
  expect(JSON.stringify(server.lines)).not.toMatch(/"level":50/);
});
