import type { ForgeErrorKind } from '../../../src/dashboard/forges/forge-error.js';
import type { TestResponse, TestFault } from '../../forges/forge-server.js';
import { FORGE_NAMES, FORGES, type OpenAnyForge } from './forges.js';

let opened: OpenAnyForge;
let clock = Date.now();
afterEach(() => opened.server.close());

const html = { 'Content-Type': 'text/html' };
const page = '<!doctype html><title>Unicorn!</title>';
const target = { fullName: 'acme/shop', number: 1 };

describe.each(FORGE_NAMES)('errors of %s', (name) => {
  beforeEach(async () => {
    opened = await FORGES[name]({ now: () => clock });
    opened.add('acme/shop', { pulls: 1 });
  });

  test.each<[string, TestResponse | TestFault, ForgeErrorKind]>([
    ['401', { status: 401, body: { message: 'Bad credentials' } }, 'unauthorized'],
    ['403', { status: 403, body: { message: 'Resource not accessible by token' } }, 'unauthorized'],
    ['403 with an empty body', { status: 403, body: '' }, 'unauthorized'],
    ['403 with an HTML page', { status: 403, headers: html, body: page }, 'unauthorized'],
    ['404', { status: 404, body: { message: 'Not Found' } }, 'not_found'],
    ['405', { status: 405, body: {} }, 'conflict'],
    ['409', { status: 409, body: {} }, 'conflict'],
    ['409 with an empty body', { status: 409, body: '' }, 'conflict'],
    ['422', { status: 422, body: {} }, 'conflict'],
    ['429', { status: 429, body: {} }, 'rate_limited'],
    ['418', { status: 418, body: {} }, 'unknown'],
    ['500', { status: 500, body: {} }, 'unreachable'],
    ['502 with an HTML page', { status: 502, headers: html, body: page }, 'unreachable'],
    ['an HTML page instead of JSON', { headers: html, body: page }, 'unknown'],
    ['a closed connection', () => 'reset', 'unreachable'],
    ['a response over the size limit', { body: 'x'.repeat(17 * 1024 * 1024) }, 'unreachable'],
  ])('throws a ForgeError with the kind of error and logs it: %s', async (_reason, fault, kind) => {
    const { server, forge, recorded } = opened;
    server.failNext(fault);
    await expect(forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
    expect(recorded).toMatchObject([{ forge: name, account: 'mona', outcome: kind }]);
  });

  test.each([null, [null], {}, { data: [] }, { data: { viewer: {}, projects: {} } }])(
    'throws a ForgeError for JSON with an unexpected shape: %j',
    async (body) => {
      opened.server.failNext({ body });
      await expect(opened.forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind: 'unknown' });
    },
  );

  test('throws unreachable and logs no status if the connection is refused', async () => {
    await opened.server.close();
    await expect(opened.forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(opened.recorded[0]).not.toHaveProperty('statusCode');
  });

  test.each<[string, Record<string, string>, number]>([
    ['in seconds', { 'Retry-After': '120' }, 120_000],
    ['over the limit of one hour', { 'Retry-After': '999999' }, 3_600_000],
  ])('sends no further requests until Retry-After has passed: %s', async (_reason, headers, milliseconds) => {
    const { server, forge } = opened;
    server.failNext({ status: 429, headers, body: {} });
    const resetsAt = clock + milliseconds;
    await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
    clock = resetsAt - 1;
    await expect(forge.act(target, 'close')).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
    expect(server.seen).toHaveLength(1);
    clock = resetsAt;
    await expect(forge.discover()).resolves.toHaveLength(1);
  });

  test('throws unknown if a page of a list repeats', async () => {
    opened.server.repeatsPages = true;
    await expect(opened.forge.discover()).rejects.toMatchObject({ kind: 'unknown' });
    expect(opened.server.seen).toHaveLength(2);
  });

  test('throws unreachable after the timeout', async () => {
    const { server, forge } = await FORGES[name]({ timeoutMs: 50 });
    server.failNext(() => new Promise(() => undefined));
    await expect(forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
    await server.close();
  });

  test("does not show the forge's own error message", async () => {
    opened.server.failNext({ status: 403, body: { message: `user 4711 may not` } });
    const error: unknown = await opened.forge.discover().catch((refused: unknown) => refused);
    expect(String(error)).toBe(
      'ForgeError: The forge rejected the credential. It may have expired or lack a permission.',
    );
  });
});
