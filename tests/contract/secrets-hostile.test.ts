/** Hostile requests over a raw connection. Paths of consumers are tested in `secrets/consumers.ts`. */
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { ageValue } from '../secrets/age-files.js';
import { sendRaw } from '../server/raw-request.js';
import { ORIGIN } from './contract-server.js';
import { openStage, type Member, type Stage } from './secrets/fixtures.js';

let stage: Stage;
let stranger: Member;
let consumerToken: string;

beforeAll(async () => {
  stage = await openStage();
  stranger = await stage.addStranger();
  consumerToken = await stage.consumerToken('acme/shop');
  await stage.addObject({ slug: 'own', used_by: ['acme/shop'] });
  await stage.addObject({ slug: 'other', used_by: ['acme/other'] });
});
afterAll(() => stage.server.close());

const countEntries = async (): Promise<number> => {
  await sequenceAuditEntries(stage.server.database);
  const count = stage.server.database.selectFrom('audit_log').select(({ fn }) => fn.countAll<number>().as('count'));
  return (await count.executeTakeFirstOrThrow()).count;
};

function request(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} /secrets${path} HTTP/1.1`, 'Host: localhost', ...length, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const bearer = (token: string): string => `Authorization: Bearer ${token}`;
const json = 'Content-Type: application/json';
const read = (...headers: string[]): string => request('GET', '/objects/own', headers);
const create = (...headers: string[]): string =>
  request('POST', '/objects', [bearer(stage.token), json, ...headers], newBody());
const newBody = (): string => JSON.stringify({ slug: stage.newSlug(), value: ageValue() });
const chunked = (chunks: string, ...headers: string[]): string =>
  request('POST', '/objects', [bearer(stage.token), json, 'Transfer-Encoding: chunked', ...headers]) + chunks;

test('The secrets service accepts the valid requests that the hostile ones are derived from', async () => {
  expect((await sendRaw(stage.server.port, create())).status).toBe(201);
  const body = newBody();
  const whole = chunked(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  expect((await sendRaw(stage.server.port, whole)).status).toBe(201);
});

describe('The secrets service rejects, without any effect,', () => {
  const fold = (first: string, second: string): string => `${first}\r\n ${second}`;

  test.each<[reason: string, status: number, make: () => string]>([
    ['two credentials', 400, () => read(bearer(stage.token), bearer(stage.token))],
    ['a good credential behind a bad one', 400, () => read(bearer('x'), bearer(stage.token))],
    ['two credentials in one line', 401, () => read(`${bearer('x')}, Bearer ${stage.token}`)],
    ['a bad token beside the cookie of the owner', 401, () => read(bearer('x'), `Cookie: ${stage.owner.cookie}`)],
    [
      'a different scheme beside the cookie of the owner',
      401,
      () => read('Authorization: Basic YTpi', `Cookie: ${stage.owner.cookie}`),
    ],
    ["a stranger's cookie before the owner's", 403, () => read(`Cookie: ${stranger.cookie}; ${stage.owner.cookie}`)],
    [
      "a stranger's cookie in a header before the owner's",
      403,
      () => read(`Cookie: ${stranger.cookie}`, `Cookie: ${stage.owner.cookie}`),
    ],
    ['a folded credential', 400, () => read(fold('Authorization: Bearer', stage.token))],
    ['a credential folded into a different header', 400, () => read(fold('X-Caller: me', bearer(stage.token)))],
    ['space before the colon', 400, () => read(bearer(stage.token).replace(':', ' :'))],
    ['a bare line feed between headers', 400, () => read(`X-Caller: me\n${bearer(stage.token)}`)],
    ['a bare carriage return between headers', 400, () => read(`X-Caller: me\r${bearer(stage.token)}`)],
    ['the credential in the query', 401, () => request('GET', `/objects/own?token=${stage.token}`)],
    ['the credential in a different header', 401, () => read(`X-Authorization: Bearer ${stage.token}`)],
    [
      'an underscore instead of a hyphen in a header name',
      401,
      () => read(`Proxy_Authorization: Bearer ${stage.token}`),
    ],
    ['a length and chunks', 400, () => create('Transfer-Encoding: chunked')],
    ['chunks and a length', 400, () => chunked('0\r\n\r\n', 'Content-Length: 5')],
    ['chunked before a different encoding', 400, () => create('Transfer-Encoding: chunked, identity')],
    ['an encoding that only resembles chunked', 400, () => create('Transfer-Encoding: xchunked')],
    ['chunks twice', 400, () => chunked('0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['two lengths', 400, () => create('Content-Length: 4')],
    [
      'two lengths in one header',
      400,
      () => request('POST', '/objects', [bearer(stage.token), json, 'Content-Length: 2, 2'], '').concat('{}'),
    ],
    [
      'a length with a sign',
      400,
      () => request('POST', '/objects', [bearer(stage.token), json, 'Content-Length: +2']).concat('{}'),
    ],
    ['a chunk with a sign', 400, () => chunked('+2\r\n{}\r\n0\r\n\r\n')],
    ['a chunk with 0x', 400, () => chunked('0x2\r\n{}\r\n0\r\n\r\n')],
    ['a chunk that is longer than its size', 400, () => chunked(`2\r\n${newBody()}\r\n0\r\n\r\n`)],
    ['a method override in a header', 401, () => read('X-HTTP-Method-Override: DELETE')],
    [
      'the cookie of the owner from a different site',
      403,
      () =>
        request('POST', '/objects', [`Cookie: ${stage.owner.cookie}`, json, 'Origin: https://evil.example'], newBody()),
    ],
    [
      'the cookie of the owner without an origin',
      403,
      () => request('POST', '/objects', [`Cookie: ${stage.owner.cookie}`, json], newBody()),
    ],
    ['a path with ..', 404, () => request('GET', '/objects/../objects/own', [bearer(consumerToken)])],
    ['an encoded slash in a slug', 400, () => request('GET', '/objects/other%2Fversions', [bearer(stage.token)])],
    ['NUL after a slug', 400, () => request('GET', '/objects/own%00', [bearer(stage.token)])],
    ['a backslash in a slug', 400, () => request('GET', '/objects/own%5C', [bearer(stage.token)])],
    ['a slug that is encoded twice', 400, () => request('GET', '/objects/%256fwn', [bearer(stage.token)])],
  ])('%s', async (_reason, status, make) => {
    const entries = await countEntries();
    const answer = await sendRaw(stage.server.port, make());
    const text = expect.any(String) as string;
    expect(answer).toEqual({
      status,
      body: expect.objectContaining({ error: text, code: text, requestId: text }) as object,
    });
    expect(JSON.stringify(answer.body)).not.toContain(stage.token);
    expect(await countEntries()).toBe(entries);
  });
});

test('The secrets service does not interpret a request inside a body', async () => {
  const entries = await countEntries();
  const inner = request('DELETE', '/objects/own', [bearer(stage.token)]);
  const { status } = await sendRaw(
    stage.server.port,
    request('GET', '/objects/absent', [bearer(consumerToken)], inner),
  );
  expect(status).toBe(404);
  expect(await countEntries()).toBe(entries);
  expect((await sendRaw(stage.server.port, request('GET', '/healthz'))).status).toBe(200);
});

test('The secrets service accepts a same-origin request with only the cookie', async () => {
  const headers = [`Cookie: ${stage.owner.cookie}`, json, `Origin: ${ORIGIN}`];
  expect((await sendRaw(stage.server.port, request('POST', '/objects', headers, newBody()))).status).toBe(201);
});

test('The log of hostile requests contains no internal error and no credential', () => {
  const lines = JSON.stringify(stage.server.lines);
  expect(lines).not.toMatch(/"level":50/);
  for (const secret of [stage.token, consumerToken, stage.owner.cookie]) expect(lines).not.toContain(secret);
});
