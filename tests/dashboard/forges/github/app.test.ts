import type { Forge } from '../../../../src/dashboard/forges/forge.js';
import { createInstallationForge } from '../../../../src/dashboard/forges/github/github-forge.js';
import type { NewRequestLogEntry } from '../../../../src/dashboard/request-log.js';
import { createTestApp, type TestApp } from '../../../forges/github-app.js';
import { githubPullRequest, githubRepository } from '../../../forges/github-state.js';
import { startGithub, type TestGithub } from '../../../forges/github.js';
import { agent } from '../open-forge.js';

let server: TestGithub;
let app: TestApp;
let forge: Forge;
let recorded: NewRequestLogEntry[];
let clock: number;

const MINUTE_MS = 60_000;
const open = (change: { readonly id?: number; readonly privateKey?: string; readonly installationId?: number } = {}) =>
  createInstallationForge({
    app: { id: change.id ?? app.id, privateKey: change.privateKey ?? app.privateKey, url: server.url },
    installationId: change.installationId ?? app.installationId,
    account: 'mona',
    agent,
    record: async (request) => void recorded.push(request),
    now: () => clock,
  });

// Shared by all tests, as generating a key is slow.
const shared = createTestApp();

beforeEach(async () => {
  clock = Date.now();
  recorded = [];
  app = { ...shared, tokens: [], now: () => clock };
  server = await startGithub([
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }),
    githubRepository('acme/private', { isPrivate: true }),
    githubRepository('acme/fork', { isFork: true }),
    githubRepository('acme/old', { isArchived: true }),
  ]);
  server.app = app;
  forge = open();
});
afterEach(() => server.close());

test('GitHub App: discovers the repositories of its installation, reads them and acts on them', async () => {
  const found = await forge.discover();
  expect(found.map(({ fullName, canManageWebhooks }) => [fullName, canManageWebhooks])).toEqual([
    ['acme/shop', false],
    ['acme/private', false],
  ]);
  const { repositories } = await forge.read(found);
  expect(repositories.map(({ pullRequests }) => pullRequests.length)).toEqual([1, 0]);
  await expect(forge.act({ fullName: 'acme/shop', number: 1 }, 'merge')).resolves.toBe('done');
  expect(server.repositories[0]?.pullRequests[0]?.state).toBe('MERGED');
});

test('GitHub App: can manage webhooks with the permission repository_hooks', async () => {
  app.permissions = { repository_hooks: 'write' };
  expect((await forge.discover()).map(({ canManageWebhooks }) => canManageWebhooks)).toEqual([true, true]);
});

test('GitHub App: discovers more repositories than fit on a page', async () => {
  for (let count = 0; count < 120; count += 1) server.repositories.push(githubRepository(`acme/r${count}`));
  expect(await forge.discover()).toHaveLength(122);
});

test('GitHub App: shares one token between concurrent requests and renews it before it expires', async () => {
  await Promise.all([forge.discover(), forge.readRepository('acme/shop')]);
  clock += 54 * MINUTE_MS;
  await forge.discover();
  expect(app.tokens).toHaveLength(1);
  clock += 2 * MINUTE_MS;
  await forge.discover();
  expect(app.tokens).toHaveLength(2);
});

test.each<[string, Parameters<typeof open>[0], string]>([
  ['an id that does not match its key', { id: 1 }, 'unauthorized'],
  ['a deleted installation', { installationId: 98 }, 'not_found'],
])('GitHub App: throws for %s', async (_reason, change, kind) => {
  await expect(open(change).discover()).rejects.toMatchObject({ name: 'ForgeError', kind });
});

test("GitHub App: throws for another App's private key", async () => {
  const { privateKey } = createTestApp();
  await expect(open({ privateKey }).discover()).rejects.toMatchObject({ kind: 'unauthorized' });
});

test('GitHub App: requests a token again after a failed request', async () => {
  server.failNext({ status: 503, body: {} }, { path: /access_tokens$/ });
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
  await expect(forge.discover()).resolves.toHaveLength(2);
});

test('GitHub App: logs the token request without the key and the token', async () => {
  await forge.discover();
  const [first] = recorded;
  expect(first).toMatchObject({ method: 'POST', endpoint: '/app/installations/99/access_tokens', account: 'mona' });
  expect(JSON.stringify(recorded)).not.toMatch(/ghs_|PRIVATE KEY|eyJ/);
});
