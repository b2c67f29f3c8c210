import type { Board } from '../../../src/dashboard/boards/board.js';
import { saveSnapshots } from '../../../src/dashboard/refresh/repository-snapshots.js';
import type { TestResponse, TestFault } from '../../forges/forge-server.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRepository } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openStage, type Stage } from './fixtures.js';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
  const { github, forgejo, gitlab } = stage;
  github.repositories.push(githubRepository('acme/shop', { pullRequests: [githubPullRequest(1)] }));
  forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(4)] }));
  gitlab.projects.push(gitlabProject('acme/till', { mergeRequests: [gitlabMergeRequest(5)] }));
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const titlesOf = ({ pullRequests }: Board): string[] =>
  pullRequests.map(({ forge, repo, number, title }) => `${forge} ${repo}#${number} ${title}`).sort();

const githubOf = ({ forges }: Board) => forges.find(({ forge }) => forge === 'github');

const ALL = ['forgejo acme/depot#4 Change 4', 'github acme/shop#1 Change 1', 'gitlab acme/till#5 Change 5'];
const html = { 'Content-Type': 'text/html' };
const repository = () => stage.github.repositories[0]!;

/** Changes a pull request at the forge, so that the board is out of date. */
function change(): void {
  Object.assign(repository().pullRequests[0]!, { title: 'Other', updatedAt: '2026-05-03T08:00:00Z' });
}

test('refresh: a forge that is down from the start has no rows, and the other forges do', async () => {
  stage.github.failNext(() => 'reset', { times: 99 });
  const board = await stage.refresh();
  expect(titlesOf(board)).toEqual(ALL.filter((title) => !title.startsWith('github')));
  const github = { forge: 'github', reachable: false, repoCount: 0, truncated: false, errorKind: 'unreachable' };
  expect(githubOf(board)).toEqual({ ...github, error: expect.stringContaining("didn't respond") as string });
});

test('refresh: a forge whose address is no longer allowed keeps its rows, names the setting and gets no request', async () => {
  await stage.refresh();
  const [asked, strict] = [stage.github.seen.length, stage.openProcess({ forgeAllow: [] })];
  await strict.refresher.refresh(stage.ada.personId);
  const board = await stage.board();
  expect(titlesOf(board)).toEqual(ALL);
  expect(githubOf(board)).toMatchObject({ reachable: false, errorKind: 'address_refused' });
  expect(githubOf(board)?.error).toContain('TRELLIS_FORGE_ALLOW');
  expect(stage.github.seen).toHaveLength(asked);
});

test('refresh: a forge that is down from the start is retried alone after a minute', async () => {
  stage.github.failNext(() => 'reset');
  await stage.refresh();
  const asked = stage.forgejo.seen.length;
  stage.wait(61_000);
  await look();
  expect(titlesOf(await stage.board())).toEqual(ALL);
  expect(stage.forgejo.seen).toHaveLength(asked);
});

test.each<[string, TestResponse | TestFault, string]>([
  ['is down', () => 'reset', 'unreachable'],
  ['rejects the credential', { status: 401, body: { message: 'Bad credentials' } }, 'unauthorized'],
  [
    'has a secondary limit',
    { status: 403, headers: { 'Retry-After': '90' }, body: { message: 'You have exceeded a secondary rate limit.' } },
    'rate_limited',
  ],
  ['has a rate limit', { status: 429, headers: { 'Retry-After': '90' }, body: {} }, 'rate_limited'],
  ['responds with 500', { status: 500, body: {} }, 'unreachable'],
  ['responds with 502 and a page', { status: 502, headers: html, body: '<title>Bad gateway</title>' }, 'unreachable'],
  ['responds with a page instead of JSON', { headers: html, body: '<!doctype html>' }, 'unknown'],
])(
  'refresh: a forge that later %s keeps its rows, and shows since when they are stale',
  async (_reason, fault, errorKind) => {
    const before = Date.now();
    await stage.refresh();
    const after = Date.now();
    change();
    stage.github.failNext(fault, { times: 99 });
    const board = await stage.refresh();
    expect(titlesOf(board)).toEqual(ALL);
    const { staleSince = '', ...health } = githubOf(board)!;
    expect(health).toMatchObject({ reachable: false, repoCount: 1, errorKind });
    expect(Date.parse(staleSince)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(staleSince)).toBeLessThanOrEqual(after);
    expect(board.forges.filter(({ reachable }) => reachable).map(({ forge }) => forge)).toEqual(['forgejo', 'gitlab']);
  },
);

test('refresh: a forge that fails after listing its repositories keeps its rows', async () => {
  await stage.refresh();
  change();
  let requests = 0;
  stage.github.failNext(() => ((requests += 1) > 1 ? { status: 500, body: {} } : undefined), { times: 99 });
  const board = await stage.refresh();
  expect(requests).toBe(2);
  expect(titlesOf(board)).toEqual(ALL);
  expect(githubOf(board)).toMatchObject({ reachable: false, errorKind: 'unreachable' });
});

test('refresh: a forge whose pages repeat keeps its rows, and requests end', async () => {
  await stage.refresh();
  change();
  stage.github.repeatsPages = true;
  const asked = stage.github.seen.length;
  const board = await stage.refresh();
  expect(stage.github.seen.length - asked).toBeLessThan(5);
  expect(titlesOf(board)).toEqual(ALL);
  expect(githubOf(board)).toMatchObject({ reachable: false, errorKind: 'unknown' });
});

test('refresh: a forge that has recovered has new rows, and no error', async () => {
  await stage.refresh();
  change();
  stage.github.failNext({ status: 500, body: {} });
  await stage.refresh();
  const board = await stage.refresh();
  expect(titlesOf(board)).toContain('github acme/shop#1 Other');
  expect(Object.keys(githubOf(board)!).sort()).toEqual([
    'forge',
    'rateLimitGraphQL',
    'rateLimitREST',
    'reachable',
    'repoCount',
    'truncated',
  ]);
});

test.each<[string, TestResponse]>([
  ['a secondary limit', { status: 403, headers: { 'Retry-After': '600' }, body: { message: 'secondary rate' } }],
  ['an exceeded API quota', { status: 429, headers: { 'X-RateLimit-Remaining': '0', 'Retry-After': '600' }, body: {} }],
])('refresh: no process sends requests to a forge during %s', async (_reason, fault) => {
  await stage.refresh();
  stage.github.failNext(fault);
  await stage.refresh();
  const asked = stage.github.seen.length;
  const another = stage.openProcess();
  stage.wait(500_000);
  await another.refresher.refresh(stage.ada.personId);
  expect(stage.github.seen).toHaveLength(asked);
  expect(githubOf(await stage.board())).toMatchObject({ errorKind: 'rate_limited' });
  stage.wait(101_000);
  await another.refresher.refresh(stage.ada.personId);
  expect(githubOf(await stage.board())).not.toHaveProperty('errorKind');
});

test('refresh: a rejected credential is not retried until settings are saved, and then at once', async () => {
  await stage.refresh();
  stage.github.failNext({ status: 401, body: {} });
  await stage.refresh();
  const asked = stage.github.seen.length;
  stage.wait(19 * 60_000);
  await look();
  expect(stage.github.seen).toHaveLength(asked);
  await stage.dashboard.settings.save(stage.ada, { ...(await savedSettings()) });
  await look();
  expect(githubOf(await stage.board())).not.toHaveProperty('errorKind');
});

test('refresh: a renamed repository appears once, under its new name', async () => {
  await stage.refresh();
  Object.assign(repository(), { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  const board = await stage.refresh();
  expect(titlesOf(board)).toEqual(ALL.map((title) => title.replace('acme/shop', 'acme/store')));
  expect(board.repos.map(({ fullName }) => fullName)).toEqual(['acme/store', 'acme/depot', 'acme/till']);
});

test('refresh: a project of GitLab that is renamed while its pipeline runs keeps its rows and snoozes', async () => {
  const { ada, dashboard, gitlab } = stage;
  const [project] = gitlab.projects;
  project!.mergeRequests.push(gitlabMergeRequest(6, { pipeline: 'RUNNING' }));
  await stage.refresh();
  const until = new Date(Date.now() + 86_400_000);
  await dashboard.snoozes.save(ada, { forge: 'gitlab', fullName: 'acme/till', number: 5, until, untilChange: false });
  project!.fullPath = 'initech/web/till';
  stage.wait(60_000);
  await look();
  const named = ({ pullRequests }: Board) => pullRequests.filter(({ forge }) => forge === 'gitlab');
  expect(named(await stage.board())).toMatchObject([{ repo: 'initech/web/till', number: 6 }]);
  expect(named(await stage.refresh())).toMatchObject([{ repo: 'initech/web/till', number: 6 }]);
});

test('refresh: the state of repositories that take over names stays with each of them', async () => {
  const { database, ada, github } = stage;
  const chain = ['acme/store', 'acme/depository', 'acme/stock'].map((name) => githubRepository(name));
  github.repositories.push(...chain);
  await stage.refresh();
  const names = [repository(), ...chain].map(({ nameWithOwner }) => nameWithOwner);
  const mark = { person_id: ada.personId, forge: 'github', number: 1, until: null, until_change: 1, changed_at: 0 };
  await database
    .insertInto('snoozes')
    .values(names.map((repo, index) => ({ ...mark, repo, number: index })))
    .execute();
  // Each takes the name of the next, and the last one that of the first.
  const place = { personId: ada.personId, forge: 'github', connection: 'github' } as const;
  const rows = await database.selectFrom('forge_readings').selectAll().where('forge', '=', 'github').execute();
  const readings = rows
    .filter(({ full_name }) => names.includes(full_name))
    .map(({ repository_id: id, full_name }) => {
      const fullName = names[(names.indexOf(full_name) + 1) % names.length] ?? '';
      const renamed = { id, fullName, url: '', canManageWebhooks: false, revision: '' };
      return {
        snapshot: { repository: renamed, pullRequests: [], issues: [] },
        ...{ isTruncated: false, isPending: false },
      };
    });
  await saveSnapshots(database, place, { readings, readAt: Date.now() + 1_000 });
  const moved = await database.selectFrom('snoozes').select(['repo', 'number']).orderBy('number').execute();
  expect(moved.map(({ repo }) => repo)).toEqual([...names.slice(1), names[0]]);
});

test('refresh: a name that moved to a different repository shows only its rows', async () => {
  const other = githubRepository('acme/store', { pullRequests: [githubPullRequest(9)] });
  stage.github.repositories.push(other);
  await stage.refresh();
  other.nameWithOwner = 'acme/old-store';
  Object.assign(repository(), { nameWithOwner: 'acme/store', formerNames: ['acme/shop'] });
  await stage.dashboard.refresher.refreshRepository(stage.ada.personId, 'github', 'acme/shop');
  const githubRows = (board: Board) => titlesOf(board).filter((title) => title.startsWith('github'));
  expect(githubRows(await stage.board())).toEqual(['github acme/store#1 Change 1']);
  const all = ['github acme/old-store#9 Change 9', 'github acme/store#1 Change 1'];
  expect(githubRows(await stage.refresh())).toEqual(all);
});

test('refresh: a deleted repository has no rows', async () => {
  await stage.refresh();
  stage.github.repositories.pop();
  const board = await stage.refresh();
  expect(titlesOf(board)).toEqual(ALL.filter((title) => !title.startsWith('github')));
  expect(githubOf(board)).toMatchObject({ reachable: true, repoCount: 0 });
});

test('refreshRepository: a repository that cannot be read is retried automatically', async () => {
  await stage.refresh();
  change();
  stage.github.failNext({ status: 500, body: {} });
  const { refresher } = stage.dashboard;
  const read = refresher.refreshRepository(stage.ada.personId, 'github', 'acme/shop');
  await expect(read).rejects.toMatchObject({ kind: 'unreachable' });
  stage.wait(61_000);
  await look();
  expect(titlesOf(await stage.board())).toContain('github acme/shop#1 Other');
});

test.each([
  ['a refresh', async () => void (await stage.refresh())],
  ['a delivery', () => stage.dashboard.refresher.refreshRepository(stage.ada.personId, 'forgejo', 'acme/depot')],
])('%s: repositories of Forgejo keep rows and snoozes while a proxy responds for it with 404', async (_name, read) => {
  await stage.refresh();
  const snooze = { forge: 'forgejo', fullName: 'acme/depot', number: 4, untilChange: true } as const;
  await stage.dashboard.snoozes.save(stage.ada, snooze);
  Object.assign(stage.forgejo.repositories[0]!, { updatedAt: '2026-05-03T08:00:00Z' });
  let isAway = false;
  const fault: TestFault = ({ path }) => {
    isAway ||= path.includes('/repos/acme/depot');
    return isAway ? { status: 404, body: '404 page not found' } : undefined;
  };
  stage.forgejo.failNext(fault, { times: 99 });
  await read().catch(() => undefined);
  const { pullRequests } = await stage.dashboard.boards.read(stage.ada, { includeSnoozed: true });
  expect(pullRequests.find(({ forge }) => forge === 'forgejo')).toMatchObject({
    number: 4,
    snooze: { untilChange: true },
  });
});

test('refresh: after a change of the URL, only rows of the new server remain', async () => {
  await stage.refresh();
  stage.forgejo.failNext(() => 'reset', { times: 99 });
  const settings = { ...(await savedSettings()), forgejoUrl: `${stage.forgejo.url}/other` };
  await stage.dashboard.settings.save(stage.ada, settings);
  expect(titlesOf(await stage.refresh())).toEqual(ALL.filter((title) => !title.startsWith('forgejo')));
});

test('refresh: a forge without a credential is not on the board', async () => {
  await stage.refresh();
  await stage.dashboard.settings.save(stage.ada, { ...(await savedSettings()), githubUsername: '', githubToken: null });
  const board = await stage.refresh();
  expect(titlesOf(board)).toEqual(ALL.filter((title) => !title.startsWith('github')));
  expect(board.forges.map(({ forge }) => forge)).toEqual(['forgejo', 'gitlab']);
});

/** Runs due refreshes, as a server does every second. */
async function look(): Promise<void> {
  const { refresher } = stage.openProcess();
  await refresher.start();
  await refresher.close();
}

async function savedSettings() {
  const found = await stage.dashboard.settings.findForges(stage.ada.personId);
  return { ...found!, renovateAuthors: [] };
}
