import { deleteExpiredDashboardData } from '../../../src/dashboard/dashboard.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let now: number;
let github: TestGithub;
let dashboard: TestDashboard;

const ago = (hours: number): string => new Date(now - hours * HOUR_MS).toISOString();
const scope = { days: 30 };
const read = () => dashboard.reviewInsights.read(dashboard.ada, scope);
const countQueries = () => github.seen.filter(({ body }) => body.includes('ReadHistories')).length;
const refresh = async () => {
  await dashboard.refresher.refresh(dashboard.ada.personId);
  await dashboard.histories.read(dashboard.ada.personId);
};
const merged = (number: number, hours: number, review: number) =>
  githubPullRequest(number, {
    state: 'MERGED',
    ...{ createdAt: ago(200), updatedAt: ago(200 - hours), mergedAt: ago(200 - hours), closedAt: ago(200 - hours) },
    timeline: [{ type: 'REVIEW_REQUESTED_EVENT', createdAt: ago(200), login: 'lisa' }],
    submitted: [{ author: 'lisa', state: 'APPROVED', submittedAt: ago(200 - review) }],
  });

beforeEach(async () => {
  now = Date.now();
  const old = { createdAt: ago(2400), updatedAt: ago(2300), closedAt: ago(2300), state: 'CLOSED' as const };
  const pullRequests = [
    githubPullRequest(1, { createdAt: ago(50), updatedAt: ago(50) }),
    ...[1, 2, 3, 4, 5].map((hours) => merged(hours + 1, hours * 10, hours)),
    githubPullRequest(7, { ...old }),
    { ...merged(8, 90, 1), author: 'dependabot[bot]' },
  ];
  github = await startGithub([githubRepository('acme/shop', { pullRequests }), githubRepository('acme/empty')]);
  dashboard = await openDashboard({ now: () => now });
  await dashboard.settings.save(dashboard.ada, {
    ...{ githubUrl: github.url, githubUsername: 'mona', githubToken: GITHUB_TOKEN },
  });
  dashboard.histories.start();
  await refresh();
});
afterEach(async () => {
  dashboard.histories.close();
  await dashboard.refresher.close();
  await dashboard.database.destroy();
  await github.close();
});

test('histories: a refresh stores review times of all repositories with one query', async () => {
  const body = await read();
  expect(countQueries()).toBe(1);
  expect(body).toMatchObject({
    unreadRepositories: 0,
    slow: { atLeastSeconds: 4 * 3600, count: 1 },
    repositories: [{ repo: 'acme/shop', cycle: { samples: 5, medianSeconds: 30 * 3600 }, waiting: 1 }],
    reviewers: [{ login: 'lisa', requested: 5, given: 5, pending: 0 }],
  });
  const rows = await dashboard.reviewInsights.list(dashboard.ada, {
    ...{ ...scope, measure: 'waiting', atLeastSeconds: 4 * 3600, limit: 50, offset: 0 },
  });
  expect(rows).toMatchObject({ total: 1, rows: [{ number: 1, seconds: 50 * 3600, state: 'open' }] });
});

test('reviewInsights.list: a reviewer, in any case, and a range restrict the rows together', async () => {
  const countRows = async (filter: { reviewer: string; atLeastSeconds?: number; belowSeconds?: number }) => {
    const page = { ...scope, measure: 'requested' as const, limit: 50, offset: 0 };
    return (await dashboard.reviewInsights.list(dashboard.ada, { ...page, ...filter })).total;
  };
  expect(await countRows({ reviewer: 'Lisa' })).toBe(5);
  expect(await countRows({ reviewer: 'joe' })).toBe(0);
  // Lisa responded 1, 2, 3, 4 and 5 hours after the request.
  const range = { atLeastSeconds: 2.5 * 3600, belowSeconds: 4.5 * 3600 };
  expect(await countRows({ reviewer: 'lisa', ...range })).toBe(2);
  expect(await countRows({ reviewer: 'joe', ...range })).toBe(0);
});

test('histories: only changed repositories are read again, and not within ten minutes', async () => {
  const [shop] = github.repositories;
  Object.assign(shop!.pullRequests[0]!, {
    ...{ state: 'MERGED', updatedAt: ago(-0.05), mergedAt: ago(-0.05), closedAt: ago(-0.05) },
  });
  now += HOUR_MS / 10;
  await refresh();
  expect(countQueries()).toBe(1);
  now += HOUR_MS / 10;
  await dashboard.histories.read(dashboard.ada.personId);
  expect(countQueries()).toBe(2);
  const { measures, slow } = await read();
  expect([measures.find(({ measure }) => measure === 'cycle')?.samples, slow?.count]).toEqual([6, 0]);
  await dashboard.histories.read(dashboard.ada.personId);
  expect(countQueries()).toBe(2);
});

test('histories: a repository whose history times out is not missing for ever, and delays no other one', async () => {
  const add = (name: string) => github.repositories.push(githubRepository(name, { pullRequests: [merged(1, 10, 5)] }));
  for (const name of ['acme/huge', 'acme/next']) add(name);
  let isOverloaded = true;
  const isHuge = ({ body }: { body: string }) => body.includes('ReadHistories') && body.includes('R_acme/huge');
  github.failNext((seen) => (isOverloaded && isHuge(seen) ? github.overload : undefined), { times: Infinity });
  const countRead = async () => {
    const { measures, unreadRepositories } = await read();
    return [measures.find(({ measure }) => measure === 'cycle')?.samples, unreadRepositories];
  };
  await refresh();
  expect(await countRead()).toEqual([6, 1]);
  const queries = countQueries();
  await refresh();
  expect(countQueries()).toBe(queries);
  isOverloaded = false;
  now += HOUR_MS;
  await refresh();
  expect(await countRead()).toEqual([7, 0]);
});

test('histories: a low API quota is left to refreshes', async () => {
  github.budgets.graphql.remaining = 1_000;
  github.repositories.push(githubRepository('acme/new', { pullRequests: [githubPullRequest(1)] }));
  await dashboard.refresher.refresh(dashboard.ada.personId);
  await dashboard.histories.read(dashboard.ada.personId);
  expect(countQueries()).toBe(1);
  expect((await read()).unreadRepositories).toBe(1);
});

test('histories: a failure to store them is an error, unlike one of the forge', async () => {
  await dashboard.database.schema.dropTable('pull_request_histories').execute();
  github.repositories.push(githubRepository('acme/new', { pullRequests: [merged(1, 10, 5)] }));
  await dashboard.refresher.refresh(dashboard.ada.personId);
  await expect(dashboard.histories.read(dashboard.ada.personId)).rejects.toThrow('pull_request_histories');
});

test('histories: pull requests are deleted 90 days after their last change', async () => {
  const count = async () =>
    (await dashboard.database.selectFrom('pull_request_histories').select('number').execute()).length;
  expect(await count()).toBe(7);
  await deleteExpiredDashboardData(dashboard.database, now + 87 * DAY_MS);
  expect(await count()).toBe(1);
});

test('reviewInsights.read: omits ignored repositories and boards that are not shared', async () => {
  expect((await dashboard.reviewInsights.read(dashboard.bob, scope)).repositories).toEqual([]);
  await expect(dashboard.reviewInsights.read(dashboard.bob, { ...scope, owner: 'ada' })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await dashboard.repositories.ignore(dashboard.ada, {
    forge: 'github',
    fullName: 'acme/shop',
    prs: true,
    issues: false,
  });
  expect((await read()).repositories).toEqual([]);
});
