import { forgejoRepository } from '../../../forges/forgejo-state.js';
import { openForgejo, type OpenForgejo } from './open-forgejo.js';

let forgejo: OpenForgejo;

beforeEach(async () => {
  forgejo = await openForgejo([forgejoRepository('acme/shop')]);
});
afterEach(() => forgejo.server.close());

test('Forgejo client: does not cache a response that is not JSON, even with an ETag', async () => {
  forgejo.server.failNext({ body: '<!doctype html>' });
  await expect(forgejo.forge.discover()).rejects.toMatchObject({ kind: 'unknown' });
  await expect(forgejo.forge.discover()).resolves.toHaveLength(1);
  expect(forgejo.server.seen[1]?.headers).not.toHaveProperty('if-none-match');
});

test('Forgejo client: pauses for a minute after 429 without Retry-After', async () => {
  const { server, forge } = await openForgejo([], { now: () => 1_000 });
  server.failNext({ status: 429, body: {} });
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt: 61_000 });
  await server.close();
});

test('Forgejo client: logs each request with its outcome', async () => {
  const { server, forge, recorded } = forgejo;
  await forge.discover();
  server.failNext({ status: 502, body: {} });
  await forge.discover().catch(() => undefined);
  const asked = { forge: 'forgejo', method: 'GET', account: 'mona' };
  expect(recorded).toEqual([
    { ...asked, endpoint: '/user/repos', outcome: 'success', statusCode: 200 },
    { ...asked, endpoint: '/repos/issues/search', outcome: 'success', statusCode: 200 },
    { ...asked, endpoint: '/user/repos', outcome: 'unreachable', statusCode: 502 },
  ]);
});
