import type { ForgeErrorKind } from '../../../../src/dashboard/forges/forge-error.js';
import type { Answer, Fault } from '../../../forges/forge-server.js';
import { gitlabMergeRequest, gitlabProject } from '../../../forges/gitlab-state.js';
import { openGitlab } from './open-gitlab.js';
import type { OpenGitlab } from './open-gitlab.js';

let gitlab: OpenGitlab;
let clock = Date.now();

beforeEach(async () => {
  gitlab = await openGitlab([gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1)] })], {
    now: () => clock,
  });
});
afterEach(() => gitlab.server.close());

const page = { headers: { 'Content-Type': 'text/html' }, body: '<!doctype html><title>502</title>' };

test.each<[string, Answer | Fault, ForgeErrorKind]>([
  ['401', { status: 401, body: {} }, 'unauthorized'],
  ['403', { status: 403, body: {} }, 'unauthorized'],
  ['404', { status: 404, body: {} }, 'not_found'],
  ['409', { status: 409, body: {} }, 'conflict'],
  ['429', { status: 429, body: {} }, 'rate_limited'],
  ['500', { status: 500, body: {} }, 'unreachable'],
  ['a page instead of JSON', page, 'unknown'],
  ['data of another shape', { body: { data: { projects: null } } }, 'unknown'],
  ['an error of GraphQL', { body: { data: null, errors: [{ message: 'Query has complexity of 300.' }] } }, 'unknown'],
  ['an end of the connection', () => 'reset', 'unreachable'],
])('tells what kind of error it is: %s', async (_reason, fault, kind) => {
  gitlab.server.failNext(fault);
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
});

test('asks nothing more while the forge says so', async () => {
  const { server, forge } = gitlab;
  server.failNext({ status: 429, headers: { 'Retry-After': '30' }, body: {} });
  const resetsAt = clock + 30_000;
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  expect(server.seen).toHaveLength(1);
  clock = resetsAt;
  await expect(forge.discover()).resolves.toHaveLength(1);
});

test('stops when a page comes again', async () => {
  gitlab.server.repeatsPages = true;
  await expect(gitlab.forge.discover()).rejects.toMatchObject({ kind: 'unknown' });
  expect(gitlab.server.seen).toHaveLength(2);
});

test('says what is left of the budget, and tells the log what was asked', async () => {
  const { forge, recorded } = gitlab;
  await forge.discover();
  expect(forge.budgets.graphql).toMatchObject({ limit: 2000, remaining: 1999 });
  const asked = { forge: 'gitlab', method: 'POST', endpoint: '/graphql', account: 'mona', statusCode: 200 };
  expect(recorded).toMatchObject([{ ...asked, outcome: 'success', rateLimit: { remaining: 1999 } }]);
});

test('does not wait for an answer for ever', async () => {
  const { server, forge } = await openGitlab([], { timeoutMs: 50 });
  server.failNext(() => new Promise(() => undefined));
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
  await server.close();
});
