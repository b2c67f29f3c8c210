/** Comparisons of known rows with GitHub, by the values that change without a new revision. */
import type { KnownRepository } from '../../../../src/dashboard/forges/forge.js';
import {
  githubPullRequest,
  type GithubPullRequest,
  githubRepository,
  githubRun,
  githubStatus,
} from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

let github: OpenGithub;
let known: KnownRepository[];

const fill = (count: number): GithubPullRequest[] =>
  Array.from({ length: count }, (_none, index) => githubPullRequest(index + 1));

async function open(...sizes: readonly number[]): Promise<void> {
  github = await openGithub(
    sizes.map((size, index) => githubRepository(`acme/r${index}`, { pullRequests: fill(size) })),
  );
  const { repositories } = await github.forge.read(await github.forge.discover());
  known = repositories.map(({ repository, pullRequests }) => ({ id: repository.id, pullRequests }));
}
afterEach(() => github.server.close());

/** Compares all repositories. Returns the names of the outdated ones, the points and the requests. */
async function compare() {
  const { server, forge } = github;
  const before = [server.budgets.graphql.remaining, server.seen.length] as const;
  const outdated = [...(await forge.findOutdated!(known))].map((id) => id.replace('R_acme/', ''));
  return {
    outdated,
    points: before[0] - server.budgets.graphql.remaining,
    requests: server.seen.length - before[1],
  };
}

test('GitHub findOutdated: compares many pull requests for one point per 20 repositories', async () => {
  await open(...Array.from({ length: 20 }, () => 4), 1);
  expect(await compare()).toEqual({ outdated: [], points: 2, requests: 2 });
});

test('GitHub findOutdated: compares all pages of a repository', async () => {
  await open(230);
  expect(await compare()).toEqual({ outdated: [], points: 3, requests: 3 });
  github.server.repositories[0]!.pullRequests.at(-1)!.mergeStateStatus = 'BLOCKED';
  expect(await compare()).toMatchObject({ outdated: ['r0'] });
});

test.each<[string, (one: GithubPullRequest) => unknown]>([
  ['its checks run again', (one) => (one.checks = [githubRun({ status: 'QUEUED', conclusion: null })])],
  ['a check fails', (one) => (one.checks = [githubRun({ conclusion: 'FAILURE' })])],
  ['it gets its first status', (one) => (one.checks = [githubStatus({ state: 'PENDING' })])],
  ['its checks are removed', (one) => (one.checks = [])],
  ['it conflicts with its base', (one) => Object.assign(one, { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' })],
  ['it falls behind its base', (one) => (one.mergeStateStatus = 'BEHIND')],
  [
    'its merge status is being computed',
    (one) => Object.assign(one, { mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' }),
  ],
  ['changes are requested where reviews are required', (one) => (one.reviewDecision = 'CHANGES_REQUESTED')],
  ['a review is required', (one) => (one.reviewDecision = 'REVIEW_REQUIRED')],
  ['auto-merge is enabled', (one) => (one.autoMerge = 'MERGE')],
  ['it joins the merge queue', (one) => (one.queued = true)],
  ['it becomes a draft', (one) => (one.isDraft = true)],
  ['it gets a commit', (one) => (one.headRefOid = 'f'.repeat(40))],
  ['it is updated', (one) => (one.updatedAt = '2026-05-09T08:00:00Z')],
  ['it is closed', (one) => (one.state = 'CLOSED')],
])('GitHub findOutdated: finds a repository with a pull request when %s', async (_reason, change) => {
  await open(2, 2);
  change(github.server.repositories[1]!.pullRequests[0]!);
  expect((await compare()).outdated).toEqual(['r1']);
});

test('GitHub findOutdated: finds a repository whose pull request no longer requires a review', async () => {
  await open(1);
  const [one] = github.server.repositories[0]!.pullRequests;
  one!.reviewDecision = 'REVIEW_REQUIRED';
  const [repository] = await github.forge.discover();
  const { repositories } = await github.forge.read([repository!]);
  one!.reviewDecision = null;
  const known = repositories.map(({ pullRequests }) => ({ id: repository!.id, pullRequests }));
  await expect(github.forge.findOutdated?.(known)).resolves.toEqual(new Set([repository!.id]));
});

test('GitHub findOutdated: finds a repository with a new pull request, and one whose settings changed', async () => {
  await open(1, 1, 1);
  github.server.repositories[0]!.pullRequests.push(githubPullRequest(9));
  github.server.repositories[2]!.autoMergeAllowed = false;
  expect((await compare()).outdated).toEqual(['r0', 'r2']);
});

test('GitHub findOutdated: counts repositories that GitHub does not return as outdated', async () => {
  await open(1, 1);
  github.server.repositories.splice(0, 1);
  expect((await compare()).outdated).toEqual(['r0']);
});

test('GitHub findOutdated: counts all as outdated if the server is too old for the query', async () => {
  await open(1, 1);
  const message = "Field 'statusCheckRollup' doesn't exist on type 'PullRequest'";
  github.server.failNext({ body: { errors: [{ message, extensions: { code: 'undefinedField' } }] } });
  expect((await compare()).outdated).toEqual(['r0', 'r1']);
});

test('GitHub findOutdated: compares fewer repositories per query after a timeout', async () => {
  await open(1, 1);
  github.server.failNext({ status: 502, body: '' });
  expect(await compare()).toMatchObject({ outdated: [], requests: 3 });
});

test('GitHub findOutdated: hidden checks are the same as hidden checks before', async () => {
  await open(0);
  await github.server.close();
  github = await openGithub([githubRepository('acme/r0', { pullRequests: fill(1) })]);
  github.server.hiddenChecks = 'statusCheckRollup';
  const { repositories } = await github.forge.read(await github.forge.discover());
  known = repositories.map(({ repository, pullRequests }) => ({ id: repository.id, pullRequests }));
  expect((await compare()).outdated).toEqual([]);
  github.server.hiddenChecks = undefined;
  expect((await compare()).outdated).toEqual(['r0']);
});

test('GitHub findOutdated: rows without a size, which an earlier release read, are outdated', async () => {
  await open(1, 1);
  known = known.map((one, index) =>
    index === 0
      ? { ...one, pullRequests: one.pullRequests.map(({ additions: _added, deletions: _deleted, ...row }) => row) }
      : one,
  );
  expect((await compare()).outdated).toEqual(['r0']);
});
