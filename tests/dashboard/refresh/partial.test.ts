import type { Board } from '../../../src/dashboard/boards/board.js';
import {
  githubPullRequest,
  githubRepository,
  githubStatus,
  type GithubPullRequest,
} from '../../forges/github-state.js';
import { openStage, type Stage } from './fixtures.js';
import { settingsFor } from './forges.js';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const LATER = '2026-05-03T08:00:00Z';
const fill = (count: number): GithubPullRequest[] =>
  Array.from({ length: count }, (_, index) => githubPullRequest(index + 1));
const numbersOf = ({ pullRequests }: Board, repo: string): number[] =>
  pullRequests
    .filter((one) => one.repo === repo)
    .map(({ number }) => number)
    .sort((a, b) => a - b);
const repoOf = ({ repos }: Board, name: string) => repos.find(({ fullName }) => fullName === name);
const githubOf = ({ forges }: Board) => forges.find(({ forge }) => forge === 'github');

test("refresh: a repository of an organization is on the board, with the user's requested review", async () => {
  const pullRequests = [githubPullRequest(4, { author: 'lisa', requested: ['mona'] })];
  stage.github.repositories.push(githubRepository('initech/api', { affiliation: 'ORGANIZATION_MEMBER', pullRequests }));
  const { pullRequests: rows } = await stage.refresh();
  expect(rows).toMatchObject([{ repo: 'initech/api', number: 4, section: 'needs_your_review' }]);
});

test('refreshRepository: a delivery about a repository behind single sign-on keeps its rows', async () => {
  const { github, dashboard, ada } = stage;
  const pullRequests = [githubPullRequest(1)];
  github.repositories.push(
    githubRepository('initech/api', { affiliation: 'ORGANIZATION_MEMBER', pullRequests }),
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(2)] }),
  );
  await stage.refresh();
  github.hiddenOrganizations = ['initech'];
  const read = dashboard.refresher.refreshRepository(ada.personId, 'github', 'initech/api');
  await expect(read).rejects.toMatchObject({ kind: 'unauthorized' });
  const board = await stage.refresh();
  expect([numbersOf(board, 'initech/api'), repoOf(board, 'initech/api')?.stale]).toEqual([[1], true]);
  github.repositories.splice(1, 1);
  github.hiddenOrganizations = [];
  await dashboard.refresher.refreshRepository(ada.personId, 'github', 'acme/shop').catch(() => undefined);
  expect(numbersOf(await stage.refresh(), 'acme/shop')).toEqual([]);
});

const CREDENTIALS = 'Although you appear to have the correct authorization credentials, the `initech` organization';

test.each([
  `${CREDENTIALS} has an IP allow list enabled, and your IP address is not permitted to access this resource.`,
  `${CREDENTIALS} has enabled OAuth App access restrictions, meaning that data access to third-parties is limited.`,
  '`initech` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a personal access token with fine-grained permissions.',
  "The 'initech' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 366 days.",
])('refresh: repositories keep their rows while the policy of an organization hides them: %s', async (policy) => {
  const { github, ada, dashboard } = stage;
  const pullRequests = [githubPullRequest(1, { author: 'lisa' }), githubPullRequest(3)];
  github.repositories.push(
    githubRepository('initech/api', { affiliation: 'ORGANIZATION_MEMBER', pullRequests }),
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(2)] }),
  );
  await stage.refresh();
  const snooze = { forge: 'github', fullName: 'initech/api', number: 3, untilChange: true, until: undefined } as const;
  await dashboard.snoozes.save(ada, snooze);
  Object.assign(github, { hiddenOrganizations: ['initech'], organizationPolicy: policy });
  for (const board of [await stage.refresh(), await stage.refresh()]) {
    expect([numbersOf(board, 'initech/api'), repoOf(board, 'initech/api')?.stale]).toEqual([[1], true]);
    expect(numbersOf(board, 'acme/shop')).toEqual([2]);
    expect(githubOf(board)).toMatchObject({ reachable: true, hidden: { reason: 'organization_policy' } });
  }
  github.hiddenOrganizations = [];
  const board = await stage.refresh();
  expect(githubOf(board)).not.toHaveProperty('hidden');
  expect(numbersOf(board, 'initech/api')).toEqual([1]);
});

test('refresh: repositories behind single sign-on keep their rows and snoozes, and the board says so', async () => {
  const { github, ada, dashboard } = stage;
  const pullRequests = [githubPullRequest(1, { author: 'lisa' }), githubPullRequest(3)];
  github.repositories.push(
    githubRepository('initech/api', { affiliation: 'ORGANIZATION_MEMBER', pullRequests }),
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(2)] }),
  );
  await stage.refresh();
  const snooze = { forge: 'github', fullName: 'initech/api', number: 3, untilChange: true, until: undefined } as const;
  await dashboard.snoozes.save(ada, snooze);
  github.hiddenOrganizations = ['initech'];
  for (const board of [await stage.refresh(), await stage.refresh()]) {
    expect([numbersOf(board, 'initech/api'), repoOf(board, 'initech/api')?.stale]).toEqual([[1], true]);
    expect(numbersOf(board, 'acme/shop')).toEqual([2]);
    expect(githubOf(board)).toMatchObject({
      reachable: true,
      hidden: { reason: 'single_sign_on', url: 'https://github.com/orgs/initech/sso?authorization_request=abc' },
    });
  }
  github.hiddenOrganizations = [];
  const board = await stage.refresh();
  expect(githubOf(board)).not.toHaveProperty('hidden');
  expect(repoOf(board, 'initech/api')).not.toHaveProperty('stale');
  expect(numbersOf(board, 'initech/api')).toEqual([1]);
  await dashboard.snoozes.delete(ada, snooze);
  expect(numbersOf(await stage.refresh(), 'initech/api')).toEqual([1, 3]);
});

test("refresh: a requested review of the user's team differs from one of the user and one of a different team", async () => {
  const { github } = stage;
  github.teams = ['core'];
  const requests = [['team:core'], ['mona', 'team:core'], ['team:other'], []];
  const pullRequests = requests.map((requested, index) => githubPullRequest(index + 1, { author: 'lisa', requested }));
  github.repositories.push(githubRepository('initech/api', { affiliation: 'ORGANIZATION_MEMBER', pullRequests }));
  const rows = (await stage.refresh()).pullRequests.toSorted((a, b) => a.number - b.number);
  expect(rows.map((one) => [one.reviewRequestedFromMe, one.reviewRequestedFromMyTeam, one.section])).toEqual([
    [false, true, 'needs_your_review'],
    [true, false, 'needs_your_review'],
    [false, false, 'waiting_for_others'],
    [false, undefined, 'ready_to_merge'],
  ]);
});

test("refresh: a failing pull request of any bot in the user's repository is returned to the user", async () => {
  const { github } = stage;
  const checks = [githubStatus({ state: 'FAILURE' })];
  const pullRequests = [githubPullRequest(1, { author: 'github-actions[bot]', checks })];
  github.repositories.push(githubRepository('mona/shop', { pullRequests }));
  const { pullRequests: rows } = await stage.refresh();
  expect(rows).toMatchObject([{ author: 'github-actions', authorIsBot: true, section: 'returned_to_you' }]);
});

test('refresh: a pull request in the merge queue waits, and one that can join it is ready', async () => {
  const { github } = stage;
  const pullRequests = [githubPullRequest(1, { queued: true }), githubPullRequest(2)];
  github.repositories.push(githubRepository('acme/shop', { usesMergeQueue: true, pullRequests }));
  const rows = (await stage.refresh()).pullRequests.toSorted((a, b) => a.number - b.number);
  const merge = { action: 'merge', blocked: expect.objectContaining({ code: 'merge_queue' }) as unknown };
  expect(rows).toMatchObject([
    { section: 'waiting_for_others', mergeQueue: { position: 1, state: 'queued' }, readyToMerge: false },
    { section: 'ready_to_merge', readyToMerge: false },
  ]);
  expect(rows.map(({ allowedActions }) => allowedActions)).toEqual([
    [merge, { action: 'close' }, { action: 'dequeue' }],
    [merge, { action: 'close' }, { action: 'enqueue' }],
  ]);
});

test('refresh: a repository whose query times out keeps its rows and is marked as stale, and the others are read', async () => {
  const { github } = stage;
  const [huge, shop] = [githubRepository('acme/huge', { pullRequests: fill(45) }), githubRepository('acme/shop')];
  github.repositories.push(huge, shop);
  await stage.refresh();
  github.capacity = 5;
  huge.pullRequests[0]!.updatedAt = LATER;
  shop.pullRequests.push(githubPullRequest(1));
  const board = await stage.refresh();
  expect([numbersOf(board, 'acme/huge').length, numbersOf(board, 'acme/shop')]).toEqual([45, [1]]);
  expect([repoOf(board, 'acme/huge')?.stale, repoOf(board, 'acme/shop')?.stale]).toEqual([true, undefined]);
  expect(githubOf(board)).toMatchObject({ reachable: true, truncated: false });
  github.capacity = Infinity;
  expect(repoOf(await stage.refresh(), 'acme/huge')).not.toHaveProperty('stale');
});

test('refresh: a repository whose first query times out is listed as stale, and read later', async () => {
  const { github } = stage;
  const pullRequests = fill(45).map((one) => ({ ...one, author: 'lisa' }));
  github.repositories.push(githubRepository('acme/huge', { pullRequests }));
  github.capacity = 5;
  const board = await stage.refresh();
  expect([repoOf(board, 'acme/huge')?.stale, numbersOf(board, 'acme/huge')]).toEqual([true, []]);
  expect(githubOf(board)).toMatchObject({ reachable: true, repoCount: 1, truncated: false });
  github.capacity = Infinity;
  const after = await stage.refresh();
  expect([repoOf(after, 'acme/huge')?.stale, numbersOf(after, 'acme/huge').length]).toEqual([undefined, 45]);
});

test('refresh: a pull request that GitHub fails to return keeps its last known row, and the others are read', async () => {
  const { github } = stage;
  const repository = githubRepository('acme/shop', { pullRequests: fill(4) });
  github.repositories.push(repository);
  await stage.refresh();
  github.brokenPullRequests = [2];
  repository.pullRequests[0]!.title = 'Other';
  for (const one of repository.pullRequests) one.updatedAt = LATER;
  repository.pullRequests[3]!.state = 'CLOSED';
  const board = await stage.refresh();
  expect(githubOf(board)).toMatchObject({ reachable: true });
  expect(numbersOf(board, 'acme/shop')).toEqual([1, 2, 3]);
  const titles = board.pullRequests.map(({ number, title }) => `${number} ${title}`).sort();
  expect(titles).toEqual(['1 Other', '2 Change 2', '3 Change 3']);
  expect(repoOf(board, 'acme/shop')?.stale).toBe(true);
  github.brokenPullRequests = [];
  expect(repoOf(await stage.refresh(), 'acme/shop')).not.toHaveProperty('stale');
});

test('refresh: checks that the token may not read are unknown, and never count as passing', async () => {
  const { github } = stage;
  const own = { author: 'lisa' };
  github.repositories.push(
    githubRepository('mona/shop', {
      pullRequests: [githubPullRequest(1, own), githubPullRequest(2, { ...own, checks: [] })],
    }),
  );
  const known = await stage.refresh();
  expect(known.pullRequests.every((one) => !('ciKnown' in one))).toBe(true);
  github.hiddenChecks = 'statusCheckRollup';
  for (const one of github.repositories[0]!.pullRequests) one.updatedAt = LATER;
  const { pullRequests, forges } = await stage.refresh();
  const unknown = { ci: 'none', ciKnown: false, readyToMerge: false, section: 'waiting_for_others' };
  expect(pullRequests).toMatchObject([unknown, unknown]);
  expect(forges[0]).toMatchObject({ reachable: true });
});

test.each(['statusCheckRollup', 'contexts.nodes'] as const)(
  'checks hidden at %s: listing them fails, and testing the settings names the missing permission',
  async (hidden) => {
    const { github, dashboard, ada } = stage;
    const checks = [...githubPullRequest(1).checks, githubStatus()];
    github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1, { checks })] }));
    const target = { fullName: 'acme/shop', number: 1 };
    const forge = (await dashboard.forges.of(ada.personId)).get('github')!;
    const settings = settingsFor(stage);
    expect((await forge.checks(target)).map(({ name }) => name)).toEqual(['build', 'deploy']);
    expect((await dashboard.testForgeConnection(ada, { forge: 'github', settings })).missing).toEqual([]);
    github.hiddenChecks = hidden;
    await expect(forge.checks(target)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('Checks: read') as string,
    });
    const { works, missing } = await dashboard.testForgeConnection(ada, { forge: 'github', settings });
    expect([works, missing]).toMatchObject([true, [{ purpose: 'to read the results of checks' }]]);
  },
);
