import type { Forge } from '../../../../src/dashboard/forges/forge.js';
import { createAnonymousGithubForge } from '../../../../src/dashboard/forges/github/anonymous-forge.js';
import {
  githubIssue,
  githubPullRequest,
  githubRepository,
  githubRun,
  type GithubPullRequest,
  type GithubRun,
} from '../../../forges/github-state.js';
import { startGithub, type TestGithub } from '../../../forges/github.js';
import { agent } from '../open-forge.js';

let server: TestGithub;
let forge: Forge;

beforeEach(async () => {
  server = await startGithub();
  forge = createAnonymousGithubForge({
    username: 'mona',
    baseUrl: server.url,
    agent,
    record: () => Promise.resolve(),
  });
});
afterEach(() => server.close());

const add = (name: string, change: Parameters<typeof githubRepository>[1] = {}) => {
  const repository = githubRepository(name, change);
  server.repositories.push(repository);
  return repository;
};
const spent = () => 60 - server.budgets.anonymous.remaining;

test('anonymous GitHub client: discovers the public repositories of a user without forks and archived ones', async () => {
  add('mona/shop', { viewerPermission: 'ADMIN' });
  add('mona/api');
  add('mona/secret', { isPrivate: true });
  add('mona/fork', { isFork: true });
  add('mona/old', { isArchived: true });
  add('acme/other');
  const found = await forge.discover();
  expect(found.map(({ fullName, canManageWebhooks }) => [fullName, canManageWebhooks])).toEqual([
    ['mona/shop', false],
    ['mona/api', false],
  ]);
});

test('anonymous GitHub client: reads open pull requests and issues', async () => {
  const one = githubPullRequest(7, { author: null, requested: ['lisa', 'team:core'], isCrossRepository: true });
  add('mona/shop', { pullRequests: [one, githubPullRequest(8, { state: 'CLOSED' })], issues: [githubIssue(3)] });
  const { repositories } = await forge.read(await forge.discover());
  expect(repositories[0]?.pullRequests).toEqual([
    {
      repo: 'mona/shop',
      number: 7,
      title: 'Change 7',
      url: 'https://github.com/mona/shop/pull/7',
      author: 'ghost',
      draft: false,
      labels: [],
      createdAt: '2026-05-01T08:00:00Z',
      updatedAt: '2026-05-02T08:00:00Z',
      ci: 'success',
      mergeStatus: 'unknown',
      behind: false,
      headSha: one.headRefOid,
      baseBranch: 'main',
      headBranch: 'change-7',
      crossRepository: true,
      requestedReviewerLogins: ['lisa'],
      empty: false,
      autoMergeEnabled: false,
    },
  ]);
  expect(repositories[0]?.issues).toMatchObject([{ repo: 'mona/shop', number: 3 }]);
  const byName = await forge.readRepository('mona/shop');
  expect([byName?.pullRequests, byName?.issues]).toEqual([repositories[0]?.pullRequests, repositories[0]?.issues]);
  expect(byName?.repository.revision).toBe(repositories[0]?.repository.revision);
});

const ended = (conclusion: string): GithubRun => githubRun({ conclusion });
const running = githubRun({ status: 'IN_PROGRESS', conclusion: null });

test.each<[string, GithubRun[], string]>([
  ['there are no runs', [], 'none'],
  ['all succeed', [ended('SUCCESS'), ended('SKIPPED')], 'success'],
  ['one failed and one is running', [ended('FAILURE'), running], 'failure'],
  ['one was cancelled and one is running', [ended('CANCELLED'), running], 'pending'],
  ['one was cancelled', [ended('CANCELLED'), ended('SUCCESS')], 'failure'],
])('anonymous GitHub client: computes the CI status from check runs when %s', async (_reason, checks, ci) => {
  add('mona/shop', { pullRequests: [githubPullRequest(1, { checks })] });
  expect((await forge.readRepository('mona/shop'))?.pullRequests).toMatchObject([{ ci }]);
});

test('anonymous GitHub client: skips repositories without open items and detects changes by searching', async () => {
  for (let count = 0; count < 30; count += 1) add(`mona/r${count}`);
  const busy = add('mona/shop', { pullRequests: [githubPullRequest(1)], issues: [githubIssue(2)] });
  const first = await forge.discover();
  const { repositories } = await forge.read(first);
  // One request each for the list, and for the issues, pull requests and check runs of one repository.
  expect([repositories.length, spent()]).toEqual([31, 4]);
  expect(await forge.discover()).toEqual(first);
  busy.pullRequests[0]!.updatedAt = '2026-05-03T08:00:00Z';
  const revisions = (await forge.discover()).map(({ revision }) => revision);
  const changed = first.filter(({ revision }, index) => revision !== revisions[index]);
  expect(changed.map(({ fullName }) => fullName)).toEqual(['mona/shop']);
  expect([spent(), server.budgets.search.remaining]).toEqual([6, 4]);
});

test('anonymous GitHub client: detects the first issue of a repository without open items', async () => {
  const repository = add('mona/shop');
  await forge.discover();
  repository.issues.push(githubIssue(1));
  const { repositories } = await forge.read(await forge.discover());
  expect(repositories[0]?.issues).toHaveLength(1);
});

test('anonymous GitHub client: reads all pages of lists', async () => {
  for (let count = 0; count < 110; count += 1) add(`mona/r${count}`);
  const issues = Array.from({ length: 130 }, (_, index) => githubIssue(index + 500));
  const repository = add('mona/shop', { pullRequests: [githubPullRequest(1)], issues });
  expect(await forge.discover()).toHaveLength(111);
  const reading = await forge.readRepository('mona/shop');
  expect([reading?.pullRequests.length, reading?.issues.length]).toEqual([1, 130]);
  repository.isPrivate = true;
  expect(await forge.readRepository('mona/shop')).toBeUndefined();
});

test('anonymous GitHub client: reports the hourly API quota and stops when it is exhausted', async () => {
  add('mona/shop', { issues: [githubIssue(1)] });
  await forge.discover();
  expect(forge.quotas.rest).toMatchObject({ limit: 60, remaining: 59 });
  server.budgets.anonymous.remaining = 0;
  const resetsAt = server.budgets.anonymous.reset * 1000;
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'rate_limited', resetsAt });
});

test('anonymous GitHub client: lists checks and rejects actions and webhooks', async () => {
  const one: GithubPullRequest = githubPullRequest(1, { checks: [ended('FAILURE'), running] });
  add('mona/shop', { pullRequests: [one] });
  const target = { fullName: 'mona/shop', number: 1 };
  const url = 'https://github.com/runs/1';
  await expect(forge.checks(target)).resolves.toEqual([
    { name: 'build', url, state: 'failure', durationSeconds: 90 },
    { name: 'build', url, state: 'running' },
  ]);
  const refusal = {
    kind: 'unauthorized',
    refusal: 'permission',
    needs: expect.stringContaining('a GitHub token') as string,
  };
  expect(forge.actions).toEqual([]);
  await expect(forge.act(target, 'close')).rejects.toMatchObject(refusal);
  await expect(forge.ensureWebhook('mona/shop', { url, secret: 's' })).rejects.toMatchObject(refusal);
  expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET']);
});

test('anonymous GitHub client: throws not_found for an unknown user', async () => {
  await expect(forge.discover()).rejects.toMatchObject({ kind: 'not_found' });
});
