import type { LookupAddress } from 'node:dns';
import {
  createAddressPolicy,
  createAgent,
  fetchResponse,
} from '../../../../src/dashboard/forges/http/fetch-response.js';
import { CLOSED_PORT } from '../../../closed-port.js';
import {
  LOOPBACK,
  serveForge,
  type TestResponse,
  type ForgeServer,
  type RecordedRequest,
} from '../../../forges/forge-server.js';

let forge: ForgeServer;
let other: ForgeServer;
let answer: (seen: RecordedRequest) => TestResponse;

beforeEach(async () => {
  answer = () => ({ body: { ok: true } });
  const headersOf = () => ({});
  forge = await serveForge({ answer: (seen) => answer(seen), headersOf });
  other = await serveForge({ answer: () => ({ body: { other: true } }), headersOf });
});
afterEach(() => Promise.all([forge.close(), other.close()]));

const hostOf = (url: string): string => new URL(url).host;

function send(url: string, allow: readonly string[], resolveHost?: () => Promise<readonly LookupAddress[]>) {
  const agent = createAgent(createAddressPolicy({ allow, resolveHost }));
  return fetchResponse(url, { agent, headers: { Authorization: 'Bearer secret' } });
}

test('fetchResponse: refuses a private address without a connection', async () => {
  await expect(send(forge.url, [])).rejects.toMatchObject({ kind: 'address_refused' });
  expect(forge.connections()).toBe(0);
});

test('fetchResponse: throws the same error for an open and a closed port of a refused address', async () => {
  const errors = await Promise.all(
    [forge.url, CLOSED_PORT].map((url) => send(url, []).catch((error: unknown) => error)),
  );
  expect(String(errors[0])).toBe(String(errors[1]));
  expect(String(errors[0])).toContain('TRELLIS_FORGE_ALLOW');
});

test('fetchResponse: throws unreachable for a closed port of an allowed address', async () => {
  await expect(send(CLOSED_PORT, LOOPBACK)).rejects.toMatchObject({
    kind: 'unreachable',
  });
});

test.each([301, 302, 303, 307, 308])(
  'fetchResponse: refuses a redirect with %d to a refused address',
  async (status) => {
    answer = () => ({ status, headers: { Location: `${other.url}/next` } });
    await expect(send(forge.url, [hostOf(forge.url)])).rejects.toMatchObject({ kind: 'address_refused' });
    expect([forge.seen.length, other.connections()]).toEqual([1, 0]);
  },
);

test('fetchResponse: refuses a redirect to a host name with a refused address', async () => {
  answer = () => ({ status: 302, headers: { Location: `http://elsewhere.test:${new URL(other.url).port}/` } });
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  await expect(send(forge.url, [hostOf(forge.url)], resolve)).rejects.toMatchObject({ kind: 'address_refused' });
  expect(other.connections()).toBe(0);
});

test('fetchResponse: follows a redirect to a different allowed origin without the credential', async () => {
  answer = () => ({ status: 302, headers: { Location: `${other.url}/next` } });
  expect((await send(forge.url, LOOPBACK)).text).toBe('{"other":true}');
  expect(forge.seen[0]?.headers.authorization).toBe('Bearer secret');
  expect(other.seen[0]?.headers.authorization).toBeUndefined();
});

test('fetchResponse: throws unreachable for endless redirects', async () => {
  answer = ({ path }) => ({ status: 302, headers: { Location: `${path}x` } });
  await expect(send(forge.url, LOOPBACK)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(forge.seen.length).toBeLessThanOrEqual(21);
});

test('fetchResponse: throws unreachable for a redirect to a file URL', async () => {
  answer = () => ({ status: 302, headers: { Location: 'file:///etc/passwd' } });
  await expect(send(forge.url, LOOPBACK)).rejects.toMatchObject({ kind: 'unreachable' });
});

test('fetchResponse: connects to the checked address, even if the host name resolves differently later', async () => {
  const addresses = ['127.0.0.1', '203.0.113.1'];
  let resolved = 0;
  const resolve = async () => [{ address: addresses[resolved++] ?? '', family: 4 }];
  const { status } = await send(`http://forge.test:${new URL(forge.url).port}`, ['127.0.0.1'], resolve);
  expect([status, resolved, forge.seen.length]).toEqual([200, 1, 1]);
});
