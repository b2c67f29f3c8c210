import { GraphQLError } from 'graphql';
import type { Board } from '../../../src/dashboard/boards/board.js';
import type { ForgeName } from '../../../src/dashboard/forges/forge.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openStage, type Stage } from './fixtures.js';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const FOREIGN = { affiliation: 'NONE', viewerPermission: 'READ' } as const;
const rowsOf = ({ pullRequests }: Board, repo: string) =>
  pullRequests.filter((one) => one.repo === repo).toSorted((a, b) => a.number - b.number);
const healthOf = ({ forges }: Board, name: ForgeName) => forges.find(({ forge }) => forge === name);

/** One pull request for each relation, one with two of them, and one without. */
const FOUND_BY = [['author'], ['review_requested'], ['assigned'], ['mentioned'], ['author', 'assigned']] as const;

const merge = { action: 'merge', blocked: expect.objectContaining({ code: 'permission' }) as unknown };

function addForeignWork({ github, forgejo, gitlab }: Stage): void {
  const lisa = { author: 'lisa' };
  const changes: Partial<Record<'assignees' | 'mentions' | 'requested', string[]> & { author: string }>[] = [
    { author: 'mona' },
    { ...lisa, requested: ['mona'] },
    { ...lisa, assignees: ['mona'] },
    { ...lisa, mentions: ['mona'] },
    { author: 'mona', assignees: ['mona'] },
    lisa,
  ];
  const all = changes.map((change, index) => [index + 1, change] as const);
  const ofGithub = all.map(([number, change]) => githubPullRequest(number, change));
  github.repositories.push(githubRepository('kernel/linux', { ...FOREIGN, pullRequests: ofGithub }));
  const ofForgejo = all.map(([number, change]) => forgejoPullRequest(number, change));
  forgejo.repositories.push(
    forgejoRepository('kernel/linux', { isMember: false, push: false, pullRequests: ofForgejo }),
  );
  const ofGitlab = all.map(([iid, { author, requested = [], ...change }]) =>
    gitlabMergeRequest(iid, { ...change, username: author, reviewers: requested }),
  );
  gitlab.projects.push(gitlabProject('kernel/linux', { isMember: false, pushCode: false, mergeRequests: ofGitlab }));
}

test.each(['github', 'forgejo', 'gitlab'] as const)(
  "refresh: the user's pull requests at %s are on the board although their repository is not, with what the user may do",
  async (name) => {
    addForeignWork(stage);
    const board = await stage.refresh();
    const rows = rowsOf(board, 'kernel/linux').filter(({ forge }) => forge === name);
    expect(rows.map(({ number, foundBy }) => [number, foundBy])).toEqual(FOUND_BY.map((by, index) => [index + 1, by]));
    for (const { readOnly, allowedActions, readyToMerge, foundBy } of rows) {
      const close = foundBy?.includes('author') ? { action: 'close' } : { action: 'close', blocked: merge.blocked };
      expect({ readOnly, allowedActions, readyToMerge }).toEqual({
        readOnly: true,
        allowedActions: [merge, close],
        readyToMerge: false,
      });
    }
    expect(rows[0]).toMatchObject({ section: 'waiting_for_others', ci: 'success' });
    expect(healthOf(board, name)).toMatchObject({ reachable: true, repoCount: 0, truncated: false });
    expect(healthOf(board, name)).not.toHaveProperty('incompleteSearch');
    expect(board.repos.filter(({ forge }) => forge === name)).toMatchObject([
      { fullName: 'kernel/linux', yoursOnly: true, canManageWebhooks: false },
    ]);
  },
);

test('refresh: a repository without a known permission is listed read-only', async () => {
  const { github } = stage;
  const pullRequests = [githubPullRequest(1, { author: 'mona' }), githubPullRequest(2, { author: 'lisa' })];
  const repository = githubRepository('acme/shop', {
    affiliation: 'ORGANIZATION_MEMBER',
    viewerPermission: null,
    pullRequests,
  });
  github.repositories.push(repository);
  const board = await stage.refresh();
  expect(board.repos).toMatchObject([{ fullName: 'acme/shop', canManageWebhooks: false }]);
  expect(board.repos[0]).not.toHaveProperty('yoursOnly');
  expect(rowsOf(board, 'acme/shop')).toMatchObject([
    { number: 1, readOnly: true, readyToMerge: false, allowedActions: [merge, { action: 'close' }] },
    { number: 2, readOnly: true, allowedActions: [merge, { action: 'close', blocked: merge.blocked }] },
  ]);
  repository.viewerPermission = 'WRITE';
  const known = rowsOf(await stage.refresh(), 'acme/shop');
  expect(known.map(({ readOnly, readyToMerge }) => [readOnly, readyToMerge])).toEqual([
    [undefined, true],
    [undefined, true],
  ]);
});

test('refresh: pull requests of listed repositories are listed once, without a relation', async () => {
  const { github } = stage;
  github.repositories.push(
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(1), githubPullRequest(2)] }),
  );
  const board = await stage.refresh();
  const rows = rowsOf(board, 'acme/shop');
  expect(rows.map(({ number, foundBy, readOnly }) => [number, foundBy, readOnly])).toEqual([
    [1, undefined, undefined],
    [2, undefined, undefined],
  ]);
});

test('refresh: a requested review in a foreign repository, of the user or a team, is for the user', async () => {
  const { github } = stage;
  github.teams = ['core'];
  const pullRequests = [['mona'], ['team:core']].map((requested, index) =>
    githubPullRequest(index + 1, { author: 'lisa', requested }),
  );
  github.repositories.push(githubRepository('kernel/linux', { ...FOREIGN, pullRequests }));
  const rows = rowsOf(await stage.refresh(), 'kernel/linux');
  expect(rows.map((one) => [one.reviewRequestedFromMe, one.reviewRequestedFromMyTeam, one.section])).toEqual([
    [true, undefined, 'needs_your_review'],
    [false, true, 'needs_your_review'],
  ]);
});

test("refresh: a pull request in the user's own fork can be merged", async () => {
  const { github } = stage;
  github.repositories.push(githubRepository('mona/fork', { isFork: true, pullRequests: [githubPullRequest(1)] }));
  const [row] = rowsOf(await stage.refresh(), 'mona/fork');
  expect(row).toMatchObject({ foundBy: ['author'], readyToMerge: true, section: 'ready_to_merge' });
  expect(row).not.toHaveProperty('readOnly');
});

test('refresh: a foreign pull request leaves the board when it is closed, and stays after the user joins', async () => {
  const { github } = stage;
  const repository = githubRepository('kernel/linux', {
    ...FOREIGN,
    pullRequests: [githubPullRequest(1), githubPullRequest(2)],
  });
  github.repositories.push(repository);
  await stage.refresh();
  repository.pullRequests[0]!.state = 'MERGED';
  expect(rowsOf(await stage.refresh(), 'kernel/linux').map(({ number }) => number)).toEqual([2]);
  Object.assign(repository, { affiliation: 'COLLABORATOR', viewerPermission: 'WRITE' });
  const joined = await stage.refresh();
  expect(rowsOf(joined, 'kernel/linux')).toMatchObject([{ number: 2, readyToMerge: true }]);
  expect(joined.repos).toMatchObject([{ fullName: 'kernel/linux' }]);
  expect(joined.repos[0]).not.toHaveProperty('yoursOnly');
  repository.pullRequests[1]!.state = 'MERGED';
  Object.assign(repository, FOREIGN);
  const left = await stage.refresh();
  expect([left.repos, left.pullRequests]).toEqual([[], []]);
});

test.each([
  ['github', (): unknown => (stage.github.searchError = new GraphQLError('Something went wrong.')), 'unknown'],
  ['forgejo', (): unknown => (stage.forgejo.searchError = { status: 500, body: { message: '' } }), 'unreachable'],
  ['gitlab', (): unknown => (stage.gitlab.searchError = 'Timeout on validation of query'), 'unknown'],
] as const)('refresh: when %s fails to search, known rows stay and the board says so', async (name, fail, kind) => {
  addForeignWork(stage);
  stage.github.repositories.push(githubRepository('acme/shop'));
  await stage.refresh();
  fail();
  stage.github.repositories[1]!.pullRequests.push(githubPullRequest(9));
  const board = await stage.refresh();
  expect(rowsOf(board, 'kernel/linux').filter(({ forge }) => forge === name)).toHaveLength(5);
  expect(rowsOf(board, 'acme/shop')).toHaveLength(1);
  expect(healthOf(board, name)).toMatchObject({
    reachable: true,
    incompleteSearch: { reason: 'failed', errorKind: kind },
  });
  expect(board.repos.find((one) => one.forge === name && one.yoursOnly === true)).toMatchObject({ stale: true });
});

test('refresh: above the limit, the latest foreign pull requests are on the board, and the board says so', async () => {
  const { github } = stage;
  const pullRequests = Array.from({ length: 230 }, (_, index) =>
    githubPullRequest(index + 1, { updatedAt: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString() }),
  );
  github.repositories.push(githubRepository('kernel/linux', { ...FOREIGN, pullRequests }));
  const board = await stage.refresh();
  const rows = rowsOf(board, 'kernel/linux');
  expect([rows.length, rows[0]?.number]).toEqual([200, 31]);
  expect(healthOf(board, 'github')).toMatchObject({ incompleteSearch: { reason: 'limit' } });
  expect(healthOf(board, 'github')).toMatchObject({ truncated: false });
});

test('refresh: foreign pull requests that GitHub cannot read in time keep their rows, and those it returns are new', async () => {
  const { github } = stage;
  const pullRequests = [githubPullRequest(1), githubPullRequest(2)];
  github.repositories.push(githubRepository('kernel/linux', { ...FOREIGN, pullRequests }));
  await stage.refresh();
  github.brokenPullRequests = [1];
  pullRequests[1]!.title = 'Other';
  for (const one of pullRequests) one.updatedAt = '2026-05-03T08:00:00Z';
  const board = await stage.refresh();
  expect(rowsOf(board, 'kernel/linux').map(({ number, title }) => `${number} ${title}`)).toEqual([
    '1 Change 1',
    '2 Other',
  ]);
  expect(board.repos).toMatchObject([{ stale: true }]);
});

test('refresh: pending checks of a foreign pull request are read again before the next full refresh', async () => {
  const { github, ada, dashboard } = stage;
  const [one] = [githubPullRequest(1)];
  const [run] = one.checks;
  one.checks = [{ ...run!, status: 'IN_PROGRESS', conclusion: null } as (typeof one.checks)[number]];
  github.repositories.push(githubRepository('kernel/linux', { ...FOREIGN, pullRequests: [one] }));
  expect(rowsOf(await stage.refresh(), 'kernel/linux')).toMatchObject([{ ci: 'pending' }]);
  one.checks = [run!];
  await dashboard.refresher.refreshRepository(ada.personId, 'github', 'kernel/linux');
  expect(rowsOf(await stage.board(), 'kernel/linux')).toMatchObject([{ ci: 'success' }]);
});
