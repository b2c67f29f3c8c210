import type { Board } from '../../../src/dashboard/boards/board.js';
import { listStoredCredentials, reencryptSettings } from '../../../src/dashboard/settings/settings-rows.js';
import { createServerKey } from '../../../src/storage/server-key.js';
import { eventually } from '../../eventually.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { GITHUB_TOKEN, startGithub, type TestGithub } from '../../forges/github.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { GITLAB_TOKEN, startGitlab, type TestGitlab } from '../../forges/gitlab.js';
import { openStage, type Stage } from '../refresh/fixtures.js';
import { settingsFor } from '../refresh/forges.js';

let stage: Stage;
/** A second server of GitHub, and of GitLab. */
let enterprise: TestGithub;
let gitlab: TestGitlab;
beforeEach(async () => {
  stage = await openStage();
  enterprise = await startGithub();
  gitlab = await startGitlab();
});
afterEach(async () => {
  await stage.close();
  await Promise.all([enterprise.close(), gitlab.close()]);
  expect(stage.reported).toEqual([]);
});

const add = (change: { readonly token?: string; readonly url?: string; readonly label?: string } = {}) =>
  stage.dashboard.credentials.create(stage.ada, {
    forge: 'github',
    label: 'Work',
    url: enterprise.url,
    username: 'mona',
    token: GITHUB_TOKEN,
    ...change,
  });
const namesOf = ({ pullRequests }: Board): string[] =>
  pullRequests.map(({ forge, repo, number }) => `${forge} ${repo}#${number}`).sort();
const rowOf = ({ pullRequests }: Board, repo: string) => pullRequests.find((one) => one.repo === repo);
const sentTo = (server: TestGithub, method: string) => server.seen.filter((one) => one.method === method);

test('a second server: its rows join the board with the name of the credential, and its state is separate', async () => {
  stage.github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  enterprise.repositories.push(githubRepository('work/api', { pullRequests: [githubPullRequest(2)] }));
  gitlab.projects.push(gitlabProject('work/tool', { mergeRequests: [gitlabMergeRequest(3)] }));
  const { id, createdAt } = await add();
  // The list is in the order of the milliseconds.
  await eventually(async () => expect(Date.now()).toBeGreaterThan(Date.parse(createdAt)));
  const other = { forge: 'gitlab', label: 'Lab', url: gitlab.url, username: 'mona', token: GITLAB_TOKEN } as const;
  await stage.dashboard.credentials.create(stage.ada, other);
  const board = await stage.refresh();
  expect(namesOf(board)).toEqual(['github acme/shop#1', 'github work/api#2', 'gitlab work/tool#3']);
  expect(rowOf(board, 'acme/shop')).not.toHaveProperty('credential');
  expect(rowOf(board, 'work/api')).toMatchObject({ credential: { id, label: 'Work' } });
  const reading = board.repos.map(({ fullName, credential }) => [fullName, credential?.label]);
  expect(reading).toContainEqual(['work/api', 'Work']);
  expect(reading).toContainEqual(['acme/shop', undefined]);
  expect(board.forges.map(({ forge, repoCount }) => [forge, repoCount])).toEqual([
    ['github', 1],
    ['forgejo', 0],
    ['gitlab', 0],
  ]);
  expect(board.furtherForges).toMatchObject([
    { forge: 'github', repoCount: 1, reachable: true, credential: { id, label: 'Work' } },
    { forge: 'gitlab', repoCount: 1, reachable: true, credential: { label: 'Lab' } },
  ]);
  expect(await stage.dashboard.credentials.list(stage.ada)).toMatchObject([
    { id, label: 'Work', url: enterprise.url, username: 'mona', state: 'works', repoCount: 1 },
    { label: 'Lab', state: 'works', repoCount: 1 },
  ]);
});

test('actions: each goes to the server that its row was read from', async () => {
  const { dashboard, ada, github } = stage;
  github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  enterprise.repositories.push(githubRepository('work/api', { pullRequests: [githubPullRequest(1)] }));
  await add();
  await stage.refresh();
  await dashboard.actions.perform(ada, { forge: 'github', fullName: 'work/api', number: 1 }, 'merge');
  expect([sentTo(github, 'PUT').length, sentTo(enterprise, 'PUT').length]).toEqual([0, 1]);
  expect(enterprise.repositories[0]!.pullRequests[0]!.state).toBe('MERGED');
  await dashboard.actions.perform(ada, { forge: 'github', fullName: 'acme/shop', number: 1 }, 'close');
  expect(github.repositories[0]!.pullRequests[0]!.state).toBe('CLOSED');
});

test('tokens of one owner each: all repositories are listed once, and actions use the token that may perform them', async () => {
  const { dashboard, ada, github } = stage;
  const owners = { github_pat_acme: 'acme', github_pat_initech: 'initech' };
  github.ownerTokens = new Map(Object.entries(owners));
  github.repositories.push(
    githubRepository('acme/shop', { isPrivate: true, pullRequests: [githubPullRequest(1)] }),
    githubRepository('initech/api', { isPrivate: true, pullRequests: [githubPullRequest(2)] }),
    githubRepository('initech/public', { pullRequests: [githubPullRequest(3)] }),
  );
  await dashboard.settings.save(ada, { ...settingsFor(stage), githubToken: 'github_pat_acme' });
  await add({ url: github.url, token: 'github_pat_initech' });
  const board = await stage.refresh();
  expect(namesOf(board)).toEqual(['github acme/shop#1', 'github initech/api#2', 'github initech/public#3']);
  expect(board.repos).toHaveLength(3);
  expect(rowOf(board, 'initech/public')).not.toHaveProperty('credential');
  for (const [fullName, number] of [['initech/api', 2] as const, ['initech/public', 3] as const]) {
    await dashboard.actions.perform(ada, { forge: 'github', fullName, number }, 'merge');
  }
  expect(github.repositories.map(({ pullRequests: [one] }) => one?.state)).toEqual(['OPEN', 'MERGED', 'MERGED']);
});

test.each([
  ['lisa', 1],
  ['Mona', 2],
])('a rejected approval is not sent as another user: further credential of %s', async (username, sent) => {
  const { dashboard, ada } = stage;
  stage.gitlab.projects.push(gitlabProject('acme/shop', { mergeRequests: [gitlabMergeRequest(1)] }));
  const rejected = { status: 401, body: { message: '401 Unauthorized' } };
  stage.gitlab.failNext(rejected, { times: Infinity, path: /\/approve$/ });
  const further = { forge: 'gitlab', label: 'Other', url: stage.gitlab.url, username, token: GITLAB_TOKEN } as const;
  await dashboard.settings.save(ada, { ...settingsFor(stage), gitlabUsername: 'mona' });
  await dashboard.credentials.create(ada, further);
  await stage.refresh();
  const target = { forge: 'gitlab', fullName: 'acme/shop', number: 1 } as const;
  const refused = dashboard.actions.perform(ada, target, 'review', { review: { verdict: 'approve' } });
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
  expect(stage.gitlab.seen.filter(({ path }) => path.endsWith('/approve'))).toHaveLength(sent);
});

test('a credential that the forge rejects: its rows stay, its state says so, and the others are read', async () => {
  const { dashboard, ada, github } = stage;
  github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  enterprise.ownerTokens = new Map([['github_pat_work', 'work']]);
  enterprise.repositories.push(githubRepository('work/api', { pullRequests: [githubPullRequest(2)] }));
  const { id } = await add({ token: 'github_pat_work' });
  await stage.refresh();
  enterprise.ownerTokens = new Map();
  github.repositories[0]!.pullRequests.push(githubPullRequest(3));
  const board = await stage.refresh();
  expect(namesOf(board)).toEqual(['github acme/shop#1', 'github acme/shop#3', 'github work/api#2']);
  expect(board.forges[0]).toMatchObject({ reachable: true });
  expect(board.furtherForges).toMatchObject([{ reachable: false, errorKind: 'unauthorized', credential: { id } }]);
  expect(await dashboard.credentials.list(ada)).toMatchObject([
    { state: 'failed', errorKind: 'unauthorized', error: expect.stringContaining('rejected') as string },
  ]);
  enterprise.ownerTokens = new Map([['github_pat_new', 'work']]);
  await dashboard.credentials.save(ada, id, { label: 'Work', username: 'mona', token: 'github_pat_new' });
  expect((await stage.refresh()).furtherForges).toMatchObject([{ reachable: true }]);
  expect(await dashboard.credentials.list(ada)).toMatchObject([{ state: 'works' }]);
});

test('a repository that a rejected credential shares is read with the other one', async () => {
  const { github } = stage;
  github.ownerTokens = new Map([['github_pat_acme', 'acme']]);
  const repository = githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] });
  github.repositories.push(repository);
  await add({ url: github.url, token: 'github_pat_acme' });
  expect(rowOf(await stage.refresh(), 'acme/shop')).not.toHaveProperty('credential');
  const { dashboard, ada } = stage;
  await dashboard.settings.save(ada, { ...settingsFor(stage), githubToken: 'revoked' });
  await stage.refresh();
  repository.pullRequests.push(githubPullRequest(2));
  const board = await stage.refresh();
  expect(namesOf(board)).toEqual(['github acme/shop#1', 'github acme/shop#2']);
  expect(rowOf(board, 'acme/shop')).toMatchObject({ credential: { label: 'Work' } });
});

test('repositories of the same name at two servers: the first is listed, and the board counts the other', async () => {
  const { github, dashboard, ada } = stage;
  github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  enterprise.repositories.push(
    githubRepository('acme/shop', { pullRequests: [githubPullRequest(1, { title: 'Other' })] }),
  );
  await add();
  const board = await stage.refresh();
  expect(board.pullRequests.map(({ title }) => title)).toEqual(['Change 1']);
  expect(board.furtherForges).toMatchObject([{ repoCount: 0, shadowed: 1 }]);
  await dashboard.actions.perform(ada, { forge: 'github', fullName: 'acme/shop', number: 1 }, 'close');
  expect(enterprise.repositories[0]!.pullRequests[0]!.state).toBe('OPEN');
});

test('delete: removes the rows and the token, and the state that a repository elsewhere must not inherit', async () => {
  const { dashboard, ada, database } = stage;
  enterprise.repositories.push(githubRepository('work/api', { pullRequests: [githubPullRequest(1)] }));
  const { id } = await add();
  await stage.refresh();
  const snooze = { forge: 'github', fullName: 'work/api', number: 1, untilChange: true, until: undefined } as const;
  await dashboard.snoozes.save(ada, snooze);
  await dashboard.credentials.delete(ada, id);
  expect(namesOf(await stage.board())).toEqual([]);
  expect(await dashboard.credentials.list(ada)).toEqual([]);
  for (const table of ['forge_credentials', 'snoozes', 'forge_readings'] as const) {
    expect(await database.selectFrom(table).selectAll().execute()).toEqual([]);
  }
  expect(await stage.refresh()).not.toHaveProperty('furtherForges');
  await dashboard.credentials.delete(ada, id);
  await expect(dashboard.credentials.test(ada, id)).rejects.toMatchObject({ code: 'not_found' });
});

test('test: contacts the server of the credential, and reports when the token expires', async () => {
  const { dashboard, ada } = stage;
  enterprise.tokenExpiration = '2026-12-01 08:00:00 UTC';
  enterprise.repositories.push(githubRepository('work/api'));
  const { id } = await add();
  const expiresAt = '2026-12-01T08:00:00.000Z';
  expect(await dashboard.credentials.test(ada, id)).toMatchObject({ works: true, repoCount: 1, expiresAt });
  const board = await stage.refresh();
  expect([board.forges[0]?.expiresAt, board.furtherForges?.[0]?.expiresAt]).toEqual([undefined, expiresAt]);
  expect(await dashboard.credentials.list(ada)).toMatchObject([{ expiresAt }]);
});

test('a webhook delivery of the second server refreshes its repository', async () => {
  const { dashboard, ada } = stage;
  enterprise.repositories.push(githubRepository('work/api', { pullRequests: [githubPullRequest(1)] }));
  await add();
  await stage.refresh();
  enterprise.repositories[0]!.pullRequests.push(githubPullRequest(2));
  await dashboard.refresher.refreshRepository(ada.personId, 'github', 'work/api');
  await eventually(async () =>
    expect(namesOf(await stage.board())).toEqual(['github work/api#1', 'github work/api#2']),
  );
});

test('tokens are encrypted with a context of their own, and encrypted again with a new server key', async () => {
  const { database, ada } = stage;
  const [before, after] = [createServerKey('k'.repeat(43)), createServerKey('n'.repeat(43))];
  const { id } = await add({ token: 'secret-token' });
  await add({ label: 'Other', token: 'other-token' });
  const rows = await database.selectFrom('forge_credentials').selectAll().execute();
  expect(JSON.stringify(rows.map((row) => Buffer.from(row.sealed).toString('latin1')))).not.toContain('token');
  const [one, other] = rows;
  const swapped = database.updateTable('forge_credentials').set({ sealed: other!.sealed }).where('id', '=', one!.id);
  await database.transaction().execute((transaction) => reencryptSettings(transaction as never, before, after));
  const tokens = (await listStoredCredentials(database, after, ada.personId)).map((row) => [row.id, row.token]);
  expect(new Map(tokens as [string, string][]).get(id)).toBe('secret-token');
  await expect(listStoredCredentials(database, before, ada.personId)).rejects.toThrow();
  await swapped.execute();
  await expect(listStoredCredentials(database, after, ada.personId)).rejects.toThrow();
  await database.deleteFrom('forge_credentials').execute();
});

test('create: rejects invalid URLs and more than 20 credentials, and needs a session', async () => {
  const { dashboard, ada } = stage;
  const gitlabOne = { forge: 'gitlab', label: 'Lab', token: 'x' } as const;
  await expect(dashboard.credentials.create(ada, gitlabOne)).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(add({ url: 'https://mona:secret@example.com' })).rejects.toMatchObject({ code: 'invalid_input' });
  const token = { kind: 'token', id: 't', scopes: ['read', 'write'], personId: ada.personId } as never;
  await expect(dashboard.credentials.create(token, gitlabOne)).rejects.toMatchObject({ code: 'session_required' });
  for (let count = 0; count < 20; count += 1) await add({ url: 'https://192.0.2.1' });
  await expect(add()).rejects.toMatchObject({ code: 'conflict' });
});

test('the request log and errors contain no token', async () => {
  const { database, dashboard, ada } = stage;
  const { id } = await add({ token: 'github_pat_secret' });
  await dashboard.credentials.test(ada, id);
  const board = await stage.refresh();
  const log = await database.selectFrom('request_log').selectAll().execute();
  const shown = [board, log, await dashboard.credentials.list(ada), await dashboard.settings.read(ada)];
  expect(log.length).toBeGreaterThan(0);
  expect(JSON.stringify(shown)).not.toContain('github_pat_secret');
});
