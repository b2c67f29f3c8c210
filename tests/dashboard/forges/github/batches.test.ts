import { ForgeError } from '../../../../src/dashboard/forges/forge-error.js';
import { createBatchReader } from '../../../../src/dashboard/forges/github/requests.js';
import { githubPullRequest, githubRepository, type GithubRepository } from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;
beforeEach(async () => {
  github = await openGithub();
});
afterEach(() => github.server.close());

const repositoryOf = (name: string, count: number): GithubRepository =>
  githubRepository(name, { pullRequests: Array.from({ length: count }, (_, index) => githubPullRequest(index + 1)) });

const LIMITS = { errors: [{ type: 'RESOURCE_LIMITS_EXCEEDED', message: 'Resource limits for this query exceeded.' }] };

/** Reads all repositories. Returns the read and the unread ones and the number of queries. */
async function readAll() {
  const { server, forge } = github;
  const found = await forge.discover();
  const asked = server.seen.length;
  const { repositories, unread } = await forge.read(found);
  const read = repositories.map(({ repository, pullRequests }) => `${repository.fullName} ${pullRequests.length}`);
  return { read, unread, queries: server.seen.length - asked };
}

test.each([
  ['502', { status: 502, body: '<html>' }],
  ['504', { status: 504, body: '<html>' }],
  ['200 with RESOURCE_LIMITS_EXCEEDED', { body: { data: null, ...LIMITS } }],
  ['200 with RESOURCE_LIMITS_EXCEEDED and data', { body: { data: { nodes: [] }, ...LIMITS } }],
])('GitHub read: halves a batch that GitHub aborts with %s, and remembers the size', async (_reason, overload) => {
  const { server } = github;
  server.repositories.push(...Array.from({ length: 20 }, (_, index) => repositoryOf(`acme/r${index}`, 10)));
  Object.assign(server, { capacity: 60, overload });
  const first = await readAll();
  expect([first.read.length, first.unread]).toEqual([20, []]);
  const again = await readAll();
  expect(again.read).toEqual(first.read);
  expect(again.queries).toBeLessThan(first.queries);
});

test('GitHub read: reads a repository in small pages if one page is too large for GitHub', async () => {
  const { server } = github;
  server.repositories.push(repositoryOf('acme/huge', 45), repositoryOf('acme/shop', 3));
  server.capacity = 20;
  expect(await readAll()).toMatchObject({ read: ['acme/huge 45', 'acme/shop 3'], unread: [] });
  expect((await github.forge.readRepository('acme/huge'))?.pullRequests).toHaveLength(45);
});

test('GitHub read: lists a repository as unread if GitHub always aborts it, and reads the following ones', async () => {
  const { server } = github;
  server.repositories.push(repositoryOf('acme/a', 1), repositoryOf('acme/huge', 45), repositoryOf('acme/b', 1));
  server.capacity = 5;
  expect(await readAll()).toMatchObject({ read: ['acme/a 1', 'acme/b 1'], unread: ['R_acme/huge'] });
  await expect(github.forge.readRepository('acme/huge')).rejects.toMatchObject({ kind: 'unreachable' });
});

test('GitHub read: throws unreachable after a few queries if GitHub aborts all of them', async () => {
  const { server, forge } = github;
  server.repositories.push(...Array.from({ length: 40 }, (_, index) => repositoryOf(`acme/r${index}`, 1)));
  const found = await forge.discover();
  server.failNext({ status: 502, body: '' }, { times: 99 });
  await expect(forge.read(found)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(server.seen.length).toBeLessThan(15);
});

test('GitHub read: reads a smaller batch after a timeout', async () => {
  await github.server.close();
  github = await openGithub([repositoryOf('acme/a', 1), repositoryOf('acme/b', 1)], { timeoutMs: 3_000 });
  const { server } = github;
  const found = await github.forge.discover();
  server.failNext(() => new Promise(() => undefined));
  expect((await github.forge.read(found)).repositories).toHaveLength(2);
});

test('createBatchReader: increases the batch size by one after each success', async () => {
  const batches = createBatchReader();
  const sizes: number[] = [];
  let capacity = 5;
  const read = async (batch: readonly number[]): Promise<void> => {
    sizes.push(batch.length);
    if (batch.length > capacity) throw new ForgeError('unreachable', { timedOut: true });
  };
  const items = Array.from({ length: 30 }, (_, index) => index);
  await batches.read(items, read);
  expect(sizes.slice(0, 5)).toEqual([20, 10, 5, 6, 3]);
  capacity = 20;
  sizes.length = 0;
  await batches.read(items, read);
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
});

test('createBatchReader: rethrows any other error immediately', async () => {
  const refused = new ForgeError('unauthorized');
  let calls = 0;
  const read = () => Promise.reject(((calls += 1), refused));
  await expect(createBatchReader().read([1, 2, 3], read)).rejects.toBe(refused);
  expect(calls).toBe(1);
});
