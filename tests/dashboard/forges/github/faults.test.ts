import type { ForgeErrorKind } from '../../../../src/dashboard/forges/forge-error.js';
import { GITHUB_TOKEN } from '../../../forges/github.js';
import type { Answer, Fault } from '../../../forges/forge-server.js';
import { githubPullRequest, githubRepository } from '../../../forges/github-state.js';
import { openGithub } from './open-github.js';
import type { OpenGithub } from './open-github.js';

let github: OpenGithub;
let clock = Date.now();

beforeEach(async () => {
  clock = Date.now();
  const repository = githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] });
  github = await openGithub([repository], { now: () => clock });
});
afterEach(() => github.server.close());

const errorOf = (type: string): Answer => ({ body: { data: null, errors: [{ type, message: 'No.' }] } });

test.each<[string, Answer | Fault, ForgeErrorKind]>([
  ['403 without a limit', { status: 403, body: { message: 'Resource not accessible by token' } }, 'unauthorized'],
  [
    '403 of a secondary limit',
    { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } },
    'rate_limited',
  ],
  ['403 with nothing left', { status: 403, headers: { 'X-RateLimit-Remaining': '0' }, body: {} }, 'rate_limited'],
  ['an error of GraphQL for a limit', errorOf('RATE_LIMITED'), 'rate_limited'],
  ['an error of GraphQL for a scope', errorOf('INSUFFICIENT_SCOPES'), 'unauthorized'],
  ['an error of GraphQL for what is not there', errorOf('NOT_FOUND'), 'not_found'],
  ['another error of GraphQL', errorOf('SERVICE_UNAVAILABLE'), 'unknown'],
])('tells what kind of error it is: %s', async (_reason, fault, kind) => {
  const { server, forge, recorded } = github;
  server.failNext(fault);
  await expect(forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
  expect(recorded).toMatchObject([{ outcome: kind }]);
});

test('says nothing of the credential, nor of what the forge wrote', async () => {
  const { server, forge } = github;
  server.failNext({ status: 403, body: { message: `user 4711 may not` } });
  const error: unknown = await forge.discover().catch((refused: unknown) => refused);
  expect(String(error)).toBe('ForgeError: The forge rejected the credential. It may have expired or lack a permission.');
  expect(JSON.stringify(error) + String((error as Error).cause)).not.toContain(GITHUB_TOKEN);
});

test.each<[string, Record<string, string>, number, number]>([
  ['Retry-After in seconds', { 'Retry-After': '120' }, 403, 120_000],
  ['Retry-After that is out of proportion', { 'Retry-After': '999999' }, 429, 3_600_000],
  ['no word of how long', {}, 429, 60_000],
])('asks nothing more while the forge says so: %s', async (_reason, headers, status, milliseconds) => {
  const { server, forge } = github;
  server.failNext({ status, headers, body: { message: 'You have exceeded a secondary rate limit.' } });
  const resetsAt = clock + milliseconds;
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  clock = resetsAt - 1;
  const act = forge.act({ fullName: 'acme/shop', number: 1 }, 'close');
  await expect(act).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  expect(server.seen).toHaveLength(1);
  clock = resetsAt;
  await expect(forge.discover()).resolves.toHaveLength(1);
});

test('waits for the reset of the budget that is spent', async () => {
  const { server, forge } = github;
  server.budgets.graphql.remaining = 0;
  const resetsAt = server.budgets.graphql.reset * 1000;
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
  expect(server.seen).toHaveLength(1);
  server.budgets.graphql.remaining = 5000;
  clock = resetsAt;
  await expect(forge.discover()).resolves.toHaveLength(1);
});
