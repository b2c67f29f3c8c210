import type { ForgeErrorKind } from '../../../../src/dashboard/forges/forge-error.js';
import type { Answer, Fault } from '../../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../../forges/forgejo-state.js';
import { openForgejo } from './open-forgejo.js';
import type { OpenForgejo } from './open-forgejo.js';

let forgejo: OpenForgejo;
let clock = Date.now();

beforeEach(async () => {
  const repository = forgejoRepository('acme/shop', { pullRequests: [forgejoPullRequest(1)] });
  forgejo = await openForgejo([repository], { now: () => clock });
});
afterEach(() => forgejo.server.close());

const page = { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html><title>502</title>' };

test.each<[string, Answer | Fault, ForgeErrorKind]>([
  ['401', { status: 401, body: {} }, 'unauthorized'],
  ['403', { status: 403, body: {} }, 'unauthorized'],
  ['404', { status: 404, body: {} }, 'not_found'],
  ['405', { status: 405, body: {} }, 'conflict'],
  ['409', { status: 409, body: {} }, 'conflict'],
  ['429', { status: 429, body: {} }, 'rate_limited'],
  ['500', { status: 500, body: {} }, 'unreachable'],
  ['a page instead of JSON', page, 'unknown'],
  ['JSON of another kind', { body: {} }, 'unknown'],
  ['members of another kind', { body: [null] }, 'unknown'],
  ['an end of the connection', () => 'reset', 'unreachable'],
])('tells what kind of error it is: %s', async (_reason, fault, kind) => {
  forgejo.server.failNext(fault);
  await expect(forgejo.forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
});

test('asks nothing more while the forge says so', async () => {
  const { server, forge } = forgejo;
  server.failNext({ status: 429, headers: { 'Retry-After': '30' }, body: {} });
  const resetsAt = clock + 30_000;
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  expect(server.seen).toHaveLength(1);
  clock = resetsAt;
  await expect(forge.discover()).resolves.toHaveLength(1);
});

test('stops when a page comes again', async () => {
  forgejo.server.repeatsPages = true;
  await expect(forgejo.forge.discover()).rejects.toMatchObject({ kind: 'unknown' });
  expect(forgejo.server.seen).toHaveLength(2);
});

test('tells the log what was asked, and how it ended', async () => {
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

test('does not wait for an answer for ever', async () => {
  const { server, forge } = await openForgejo([], { timeoutMs: 50 });
  server.failNext(() => new Promise(() => undefined));
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
  await server.close();
});
