import { recordFirstDelivery } from '../../../src/dashboard/pull-requests/state-entries.js';
import { githubIssue } from '../../forges/github-state.js';
import { issue } from '../pull-request.js';
import { onGithub, openActionStage, type ActionStage } from '../pull-requests/fixtures.js';

let stage: ActionStage;
const shop = { forge: 'github', fullName: 'acme/shop' } as const;

beforeEach(async () => {
  stage = await openActionStage();
  stage.github.repositories[0]!.issues.push(githubIssue(3));
  await stage.refresh();
});
afterEach(() => stage.close());

const seen = async () => {
  const { pullRequests, issues, repos } = await stage.board();
  const status = repos.find(({ fullName }) => fullName === 'acme/shop');
  return {
    pullRequests: pullRequests.filter(({ forge }) => forge === 'github').length,
    issues: issues.filter(({ repo }) => repo === issue().repo).length,
    status,
  };
};

test.each([
  [
    { prs: true, issues: false },
    { pullRequests: 0, issues: 1 },
  ],
  [
    { prs: false, issues: true },
    { pullRequests: 2, issues: 0 },
  ],
  [
    { prs: true, issues: true },
    { pullRequests: 0, issues: 0 },
  ],
])('ignore %j: the board shows %j at once', async (scope, left) => {
  const { repositories } = stage.dashboard;
  // Replaces the previous choice, and ignores the case of names.
  await repositories.ignore(stage.ada, { ...shop, prs: true, issues: true });
  await repositories.ignore(stage.ada, { forge: 'github', fullName: 'Acme/Shop', ...scope });
  const status = { ignored: true, ignoredPRs: scope.prs, ignoredIssues: scope.issues };
  expect(await seen()).toMatchObject({ ...left, status });
  await repositories.unignore(stage.ada, shop);
  await repositories.unignore(stage.ada, shop);
  expect(await seen()).toMatchObject({ pullRequests: 2, issues: 1, status: { ignored: false } });
});

test('ignore: rejects a request that ignores nothing', async () => {
  const ignored = stage.dashboard.repositories.ignore(stage.ada, { ...shop, prs: false, issues: false });
  await expect(ignored).rejects.toMatchObject({ code: 'invalid_input', field: 'prs' });
});

test('enableAutoUpdate, disableAutoUpdate: show on the board and are idempotent', async () => {
  const { repositories } = stage.dashboard;
  await repositories.enableAutoUpdate(stage.ada, shop);
  await repositories.enableAutoUpdate(stage.ada, shop);
  expect((await seen()).status).toMatchObject({ autoUpdateBranch: true, hasWebhook: false });
  await repositories.disableAutoUpdate(stage.ada, shop);
  await repositories.disableAutoUpdate(stage.ada, shop);
  expect((await seen()).status).toMatchObject({ autoUpdateBranch: false });
});

test('repository settings: default values are deleted, except the first webhook delivery', async () => {
  const { repositories } = stage.dashboard;
  const count = async () => (await stage.database.selectFrom('repository_marks').selectAll().execute()).length;
  await repositories.enableAutoUpdate(stage.ada, shop);
  await repositories.disableAutoUpdate(stage.ada, shop);
  expect(await count()).toBe(0);
  await recordFirstDelivery(stage.database, { ...onGithub, personId: stage.ada.personId }, 1);
  await repositories.unignore(stage.ada, shop);
  expect(await count()).toBe(1);
  expect((await seen()).status).toMatchObject({ hasWebhook: true });
});

test('enableAutoUpdate: rejects more repositories than a board can have', async () => {
  const { personId: person_id } = stage.ada;
  const unmarked = { ignored_prs: 1, ignored_issues: 0, auto_update_branch: 0, webhook_seen_at: null };
  const rows = Array.from({ length: 6_000 }, (_none, index) => {
    return { person_id, forge: 'github', repo: `acme/p${index}`, ...unmarked };
  });
  for (let start = 0; start < rows.length; start += 1_000) {
    await stage.database
      .insertInto('repository_marks')
      .values(rows.slice(start, start + 1_000))
      .execute();
  }
  const { repositories } = stage.dashboard;
  const more = repositories.enableAutoUpdate(stage.ada, shop);
  await expect(more).rejects.toMatchObject({ code: 'invalid_input', field: 'fullName' });
  await repositories.unignore(stage.ada, { forge: 'github', fullName: 'acme/p1' });
  await repositories.enableAutoUpdate(stage.ada, shop);
});
