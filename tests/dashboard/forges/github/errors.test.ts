import type { ForgeErrorKind } from '../../../../src/dashboard/forges/forge-error.js';
import type { TestResponse, TestFault } from '../../../forges/forge-server.js';
import { githubPullRequest, githubRepository } from '../../../forges/github-state.js';
import { GITHUB_TOKEN } from '../../../forges/github.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;
let clock = Date.now();

beforeEach(async () => {
  clock = Date.now();
  const repository = githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] });
  github = await openGithub([repository], { now: () => clock });
});
afterEach(() => github.server.close());

const errorOf = (type: string): TestResponse => ({ body: { data: null, errors: [{ type, message: 'No.' }] } });

test.each<[string, TestResponse | TestFault, ForgeErrorKind]>([
  ['403 without a rate limit', { status: 403, body: { message: 'Resource not accessible by token' } }, 'unauthorized'],
  [
    '403 for a secondary rate limit',
    { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } },
    'rate_limited',
  ],
  [
    '403 with no requests remaining',
    { status: 403, headers: { 'X-RateLimit-Remaining': '0' }, body: {} },
    'rate_limited',
  ],
  ['a GraphQL error for a rate limit', errorOf('RATE_LIMITED'), 'rate_limited'],
  ['a GraphQL error for a missing scope', errorOf('INSUFFICIENT_SCOPES'), 'unauthorized'],
  ['a GraphQL error for a missing object', errorOf('NOT_FOUND'), 'not_found'],
  ['any other GraphQL error', errorOf('SERVICE_UNAVAILABLE'), 'unknown'],
])('GitHub client: throws and logs the kind of error for %s', async (_reason, fault, kind) => {
  const { server, forge, recorded } = github;
  server.failNext(fault);
  await expect(forge.discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
  expect(recorded).toMatchObject([{ outcome: kind }]);
});

test("GitHub client: shows neither the credential nor GitHub's own error message", async () => {
  const { server, forge } = github;
  server.failNext({ status: 403, body: { message: `user 4711 may not` } });
  const error: unknown = await forge.discover().catch((refused: unknown) => refused);
  expect(String(error)).toBe(
    'ForgeError: The forge rejected the credential. It may have expired or lack a permission.',
  );
  expect(JSON.stringify(error) + String((error as Error).cause)).not.toContain(GITHUB_TOKEN);
});

test.each<[string, Record<string, string>, number, number]>([
  ['Retry-After in seconds', { 'Retry-After': '120' }, 403, 120_000],
  ['Retry-After over the limit of one hour', { 'Retry-After': '999999' }, 429, 3_600_000],
  ['a response without Retry-After', {}, 429, 60_000],
])(
  'GitHub client: sends no further requests during a rate limit: %s',
  async (_reason, headers, status, milliseconds) => {
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
  },
);

const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

test.each<[string, object]>([
  ['an error', { errors: [{ message: SECONDARY }] }],
  ['an error beside data', { data: { viewer: null }, errors: [{ message: SECONDARY, path: ['viewer'] }] }],
  ['a message', { message: SECONDARY, documentation_url: 'https://docs.github.com/' }],
])(
  'GitHub client: sends no further requests during a rate limit that GraphQL reports with 200 and %s',
  async (_, body) => {
    const { server, forge } = github;
    server.failNext({ status: 200, headers: { 'Retry-After': '90' }, body });
    const resetsAt = clock + 90_000;
    await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
    const act = forge.act({ fullName: 'acme/shop', number: 1 }, 'close');
    await expect(act).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
    expect(server.seen).toHaveLength(1);
  },
);

test('GitHub client: a title about secondary rate limits is no rate limit', async () => {
  const { server, forge } = github;
  const [one] = server.repositories[0]!.pullRequests;
  one!.title = 'Wait after a secondary rate limit';
  const [repository] = await forge.discover();
  const { repositories } = await forge.read([repository!]);
  expect(repositories[0]!.pullRequests).toMatchObject([{ title: one!.title }]);
});

test('GitHub client: sends no further requests until an exhausted quota resets', async () => {
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
