/** Lists of repositories after the first one, which read only the differences. */
import type { ForgeRepository } from '../../../../src/dashboard/forges/forge.js';
import type { RecordedRequest } from '../../../forges/forge-server.js';
import {
  githubIssue,
  githubPullRequest,
  type GithubRepository,
  githubRepository,
} from '../../../forges/github-state.js';
import { openGithub, type OpenGithub } from './open-github.js';

const MINUTE_MS = 60_000;
const LATER = '2026-05-03T08:00:00Z';

let github: OpenGithub;
let ahead = 0;

async function open(repositories: readonly GithubRepository[]): Promise<OpenGithub> {
  const now = () => Date.now() + ahead;
  const opened = await openGithub(repositories, { now });
  opened.server.clock = now;
  return opened;
}

const fill = (count: number): GithubRepository[] =>
  Array.from({ length: count }, (_none, index) =>
    githubRepository(`acme/r${String(index).padStart(4, '0')}`, {
      affiliation: 'ORGANIZATION_MEMBER',
      pullRequests: [githubPullRequest(1), githubPullRequest(2)],
      issues: [githubIssue(3)],
    }),
  );

beforeEach(async () => {
  ahead = 0;
  github = await open(fill(3));
});
afterEach(() => github.server.close());

const repository = () => github.server.repositories[1]!;
const nameOf = ({ path, body }: RecordedRequest): string => /query (\w+)/.exec(body)?.[1] ?? path;

/** Lists the repositories, and the requests for that. */
async function discover() {
  const { server, forge } = github;
  const before = server.seen.length;
  const found = await forge.discover();
  return { found, sent: server.seen.slice(before).map(nameOf) };
}

const DIFFERENCES = ['ReadHeads', '/issues'];
const revisions = (found: readonly ForgeRepository[]) => found.map(({ fullName, revision }) => [fullName, revision]);

test('GitHub discover: a second time without changes costs one point and one request of REST', async () => {
  const { server } = github;
  const { found, sent } = await discover();
  expect(sent).toEqual(['Discover']);
  const { graphql, core } = server.budgets;
  const before = [graphql.remaining, core.remaining] as const;
  const again = await discover();
  expect(again).toEqual({ found, sent: DIFFERENCES });
  expect([before[0] - graphql.remaining, before[1] - core.remaining]).toEqual([1, 1]);
  // The list of changes is the same, so GitHub responds with 304, which costs nothing.
  expect(await discover()).toEqual({ found, sent: DIFFERENCES });
  expect([before[0] - graphql.remaining, before[1] - core.remaining]).toEqual([2, 1]);
});

test('GitHub discover: the differences of 950 repositories cost three points', async () => {
  await github.server.close();
  github = await open(fill(950));
  const { found, sent } = await discover();
  expect(sent).toHaveLength(Math.ceil(950 / 74));
  const { graphql } = github.server.budgets;
  const before = graphql.remaining;
  expect(await discover()).toEqual({ found, sent: ['ReadHeads', 'ReadHeads', 'ReadHeads', '/issues'] });
  expect(before - graphql.remaining).toBe(3);
});

test('GitHub discover: reads the differences in smaller lists after a timeout, and all repositories after another', async () => {
  await github.server.close();
  github = await open(fill(350));
  const { found } = await discover();
  const timeout = { status: 502, body: '' };
  github.server.failNext(timeout);
  const heads = (count: number) => Array.from({ length: count }, () => 'ReadHeads');
  expect(await discover()).toEqual({ found, sent: [...heads(1 + 4), '/issues'] });
  expect((await discover()).sent).toEqual([...heads(4), '/issues']);
  github.server.failNext(timeout);
  expect((await discover()).sent).toEqual([...heads(1), ...Array.from({ length: 5 }, () => 'Discover')]);
});

test('GitHub discover: lists all repositories again if one was added while they were listed', async () => {
  const { server } = github;
  server.repositories.push(...fill(80).slice(3));
  server.beforeSending = async () => {
    delete server.beforeSending;
    server.repositories.unshift(githubRepository('acme/added'));
  };
  await discover();
  const { found, sent } = await discover();
  expect(sent).toEqual(['Discover', 'Discover']);
  expect(found).toHaveLength(81);
  expect((await discover()).sent).toEqual(DIFFERENCES);
});

test.each<[string, () => unknown]>([
  ['a pull request is opened', () => repository().pullRequests.push(githubPullRequest(9))],
  ['a pull request is closed', () => (repository().pullRequests[0]!.state = 'CLOSED')],
  ['a pull request is merged', () => (repository().pullRequests[0]!.state = 'MERGED')],
  ['a pull request is updated', () => (repository().pullRequests[0]!.updatedAt = LATER)],
  ['an issue is opened', () => repository().issues.push(githubIssue(9))],
  ['an issue is closed', () => (repository().issues[0]!.state = 'CLOSED')],
  ['an issue is updated', () => (repository().issues[0]!.updatedAt = LATER)],
  ['code is pushed', () => (repository().pushedAt = LATER)],
  ['it is renamed', () => (repository().nameWithOwner = 'acme/renamed')],
  ['the user loses write access, but GitHub withholds that', () => (repository().viewerPermission = null)],
])('GitHub discover: reads one repository again when %s', async (_reason, change) => {
  const { found } = await discover();
  change();
  const { found: changed, sent } = await discover();
  expect(sent).toEqual([...DIFFERENCES, 'ReadSummaries']);
  const [first, second, third] = revisions(changed);
  expect([first, third]).toEqual([revisions(found)[0], revisions(found)[2]]);
  expect(second).not.toEqual(revisions(found)[1]);
  // The differences lead to the same list as the list of all repositories.
  ahead = 61 * MINUTE_MS;
  expect(await discover()).toEqual({ found: changed, sent: ['/issues', 'Discover'] });
});

test.each<[string, () => unknown, readonly string[]]>([
  ['is new', () => github.server.repositories.push(...fill(4).slice(3)), ['r0000', 'r0001', 'r0002', 'r0003']],
  ['is deleted', () => github.server.repositories.splice(1, 1), ['r0000', 'r0002']],
  ['is archived', () => (repository().isArchived = true), ['r0000', 'r0002']],
  ['is behind single sign-on', () => (github.server.hiddenOrganizations = ['acme']), []],
  [
    'replaces a different one',
    () => github.server.repositories.splice(0, 1, ...fill(4).slice(3)),
    ['r0003', 'r0001', 'r0002'],
  ],
])('GitHub discover: lists all repositories when one %s', async (_reason, change, names) => {
  await discover();
  change();
  const { found, sent } = await discover();
  expect(sent).toEqual(['ReadHeads', 'Discover']);
  expect(found.map(({ fullName }) => fullName)).toEqual(names.map((name) => `acme/${name}`));
});

test('GitHub discover: drops a repository to which the user loses write access, and lists it again later', async () => {
  await discover();
  repository().viewerPermission = 'READ';
  expect((await discover()).found).toHaveLength(2);
  repository().viewerPermission = 'WRITE';
  expect(await discover()).toMatchObject({ found: { length: 3 }, sent: [...DIFFERENCES, 'ReadSummaries'] });
});

test('GitHub discover: lists all repositories each time while some are behind single sign-on', async () => {
  github.server.hiddenOrganizations = ['acme'];
  github.server.repositories.push(githubRepository('other/shop'));
  for (let times = 0; times < 2; times += 1) {
    const { found, sent } = await discover();
    expect([found.map(({ fullName }) => fullName), sent]).toEqual([['other/shop'], ['Discover']]);
    expect(github.forge.hidden).toMatchObject({ reason: 'single_sign_on' });
  }
  github.server.hiddenOrganizations = [];
  expect(await discover()).toMatchObject({ found: { length: 4 }, sent: ['Discover'] });
  expect(github.forge.hidden).toBeUndefined();
});

test('GitHub discover: lists all repositories within an hour, which finds a deleted issue', async () => {
  const { found } = await discover();
  repository().issues.pop();
  ahead = 59 * MINUTE_MS;
  expect(await discover()).toEqual({ found, sent: DIFFERENCES });
  ahead = 60 * MINUTE_MS;
  const { found: after, sent } = await discover();
  expect(sent).toEqual(['/issues', 'Discover']);
  expect(revisions(after)[1]).not.toEqual(revisions(found)[1]);
});

test('GitHub discover: lists all repositories if very many pull requests and issues have changed', async () => {
  await discover();
  repository().issues.push(...Array.from({ length: 520 }, (_none, index) => githubIssue(100 + index)));
  const { sent } = await discover();
  expect(sent).toEqual(['ReadHeads', ...Array.from({ length: 5 }, () => '/issues'), 'Discover']);
});

test.each<[string, number]>([
  ['has no access to the list of changes', 403],
  ['has no such list', 404],
  ['gives up on the list of changes', 502],
])('GitHub discover: lists all repositories for an hour if GitHub %s', async (_reason, status) => {
  const { found } = await discover();
  github.server.failNext({ status, body: { message: 'No.' } }, { path: /^\/issues$/ });
  expect(await discover()).toEqual({ found, sent: [...DIFFERENCES, 'Discover'] });
  ahead = 20 * MINUTE_MS;
  expect((await discover()).sent).toEqual(['Discover']);
  ahead = 61 * MINUTE_MS;
  expect((await discover()).sent).toEqual(DIFFERENCES);
});

test.each([
  ['all repositories, if GitHub left out a change', [], 'Discover'],
  ['differences, if GitHub listed all changes', undefined, 'ReadHeads'],
])('GitHub discover: after an hour lists %s', async (_what, body, first) => {
  await discover();
  ahead = 30 * MINUTE_MS;
  repository().issues[0]!.updatedAt = new Date(github.server.clock()).toISOString();
  ahead = 61 * MINUTE_MS;
  if (body !== undefined) github.server.failNext({ body }, { path: /^\/issues$/ });
  expect((await discover()).sent).toEqual(['/issues', 'Discover']);
  expect((await discover()).sent[0]).toBe(first);
});

test('GitHub discover: fails like the first time if GitHub is down', async () => {
  await discover();
  github.server.failNext({ status: 500, body: {} }, { path: /^\/issues$/ });
  await expect(github.forge.discover()).rejects.toMatchObject({ kind: 'unreachable' });
  github.server.failNext({ status: 401, body: {} });
  await expect(github.forge.discover()).rejects.toMatchObject({ kind: 'unauthorized' });
  expect((await discover()).sent).toEqual(DIFFERENCES);
});
