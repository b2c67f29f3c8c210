import type { ActionName } from '../../../src/dashboard/forges/forge.js';
import type { ActionTarget } from '../../../src/dashboard/pull-requests/actions.js';
import type { ForgejoPullRequest } from '../../forges/forgejo-state.js';
import { githubRun, type GithubPullRequest } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject, type GitlabMergeRequest } from '../../forges/gitlab-state.js';
import { onForgejo, onGithub, onGitlab, openActionStage, actionError, type ActionStage } from './fixtures.js';

let stage: ActionStage;
let github: GithubPullRequest;
let forgejo: ForgejoPullRequest;
let gitlab: GitlabMergeRequest;

beforeEach(async () => {
  stage = await openActionStage();
  ({ github, forgejo, gitlab } = stage.one);
});
afterEach(async () => {
  expect(stage.reported).toEqual([]);
  await stage.close();
});

const act = (target: ActionTarget, action: ActionName) => stage.act(target, action);

const running = [githubRun({ status: 'IN_PROGRESS', conclusion: null })];
const failing = [githubRun({ conclusion: 'FAILURE' })];

describe('an allowed action is performed', () => {
  test.each<[ActionName, Partial<GithubPullRequest>, 'done' | 'queued', Partial<GithubPullRequest>]>([
    ['merge', {}, 'done', { state: 'MERGED' }],
    ['close', {}, 'done', { state: 'CLOSED' }],
    ['auto_merge', { mergeStateStatus: 'BLOCKED', checks: running }, 'done', { autoMerge: 'MERGE' }],
    ['update_branch', { mergeStateStatus: 'BEHIND' }, 'queued', { mergeStateStatus: 'CLEAN' }],
    ['dependabot_rebase', { author: 'dependabot' }, 'done', { comments: ['@dependabot rebase'] }],
    ['dependabot_recreate', { author: 'dependabot' }, 'done', { comments: ['@dependabot recreate'] }],
    ['renovate_rebase', { author: 'renovate' }, 'done', { labels: [{ name: 'rebase', color: 'ededed' }] }],
    [
      'rerun_checks',
      { checks: failing },
      'queued',
      { checks: [{ ...failing[0]!, status: 'QUEUED', conclusion: null }] },
    ],
  ])('%s at GitHub', async (action, before, outcome, after) => {
    Object.assign(github, structuredClone(before));
    await stage.refresh();
    expect(await act(onGithub, action)).toBe(outcome);
    expect(github).toMatchObject(after);
    expect(stage.writes()).toHaveLength(1);
  });

  test.each<[ActionName, Partial<ForgejoPullRequest>, Partial<ForgejoPullRequest>]>([
    ['merge', {}, { merged: true }],
    ['close', {}, { state: 'closed', merged: false }],
    ['update_branch', { mergeBase: 'a'.repeat(40) }, { mergeBase: 'b'.repeat(40) }],
    ['renovate_rebase', { author: 'renovate' }, { labels: [{ name: 'rebase', color: 'ededed' }] }],
  ])('%s at Forgejo', async (action, before, after) => {
    Object.assign(forgejo, before);
    await stage.refresh();
    expect(await act(onForgejo, action)).toBe('done');
    expect(forgejo).toMatchObject(after);
  });

  test.each<[ActionName, Partial<GitlabMergeRequest>, Partial<GitlabMergeRequest>]>([
    ['merge', {}, { state: 'merged' }],
    ['auto_merge', { detailedMergeStatus: 'CI_STILL_RUNNING', pipeline: 'RUNNING' }, { autoMergeEnabled: true }],
    ['cancel_auto_merge', { autoMergeEnabled: true, pipeline: 'RUNNING' }, { autoMergeEnabled: false }],
    ['update_branch', { divergedFromTargetBranch: true }, { divergedFromTargetBranch: false }],
  ])('%s at GitLab', async (action, before, after) => {
    Object.assign(gitlab, before);
    await stage.refresh();
    expect(['done', 'queued']).toContain(await act(onGitlab, action));
    expect(gitlab).toMatchObject(after);
  });
});

test.each<[string, ActionName, Partial<GithubPullRequest>]>([
  ['checks_pending', 'merge', { checks: running }],
  ['stacked', 'auto_merge', { baseRefName: 'change-2' }],
])(
  'perform: rejects an action that the board blocks without a request to the forge: %s',
  async (code, action, change) => {
    Object.assign(github, change);
    await stage.refresh();
    const asked = stage.github.seen.length;
    await expect(act(onGithub, action)).rejects.toMatchObject(actionError(code));
    expect(stage.github.seen).toHaveLength(asked);
  },
);

test.each<[string, ActionTarget, ActionName]>([
  ['merge queues at other forges', onForgejo, 'enqueue'],
  ['Dependabot commands at other forges', onForgejo, 'dependabot_rebase'],
])('perform: rejects %s', async (_reason, target, action) => {
  await stage.refresh();
  await expect(act(target, action)).rejects.toMatchObject({ code: 'invalid_input', field: 'forge' });
});

/** GitHub and Forgejo have no groups, and `..` would lead to a different path of their APIs. */
describe.each(['github', 'forgejo'] as const)('a name that no repository of %s can have', (forge) => {
  const names = ['acme/shop/till', 'acme/depot/pulls', 'acme/..', '../user', './shop'];

  test.each(names)('is rejected before any request: %s', async (fullName) => {
    const before = stage[forge].seen.length;
    const { actions, ensureWebhook, repositories } = stage.dashboard;
    const target = { forge, fullName, number: 1 };
    const operations = [
      act(target, 'merge'),
      actions.listChecks(stage.ada, target),
      actions.readDetails(stage.ada, target),
      ensureWebhook(stage.ada, target),
      repositories.ignore(stage.ada, { ...target, prs: true, issues: true }),
      repositories.enableAutoUpdate(stage.ada, target),
    ];
    for (const operation of operations) {
      await expect(operation).rejects.toMatchObject({
        code: 'invalid_input',
        field: 'fullName',
        message: `Expected fullName to be an owner and a name, such as acme/shop; received "${fullName}". Only GitLab has nested groups.`,
      });
    }
    expect(stage[forge].seen).toHaveLength(before);
  });

  test('is not found by a refresh of one repository', async () => {
    const before = stage[forge].seen.length;
    const refresh = stage.dashboard.refresher.refreshRepository(stage.ada.personId, forge, 'acme/shop/till');
    await expect(refresh).rejects.toMatchObject({ kind: 'not_found' });
    expect(stage[forge].seen).toHaveLength(before);
  });
});

test('perform: a merge request in a nested group of GitLab can be merged', async () => {
  const nested = gitlabMergeRequest(1);
  stage.gitlab.projects.push(gitlabProject('acme/stores/till', { id: 77, mergeRequests: [nested] }));
  await act({ forge: 'gitlab', fullName: 'acme/stores/till', number: 1 }, 'merge');
  expect(nested.state).toBe('merged');
});

test('perform: ignores the case of repository names', async () => {
  await stage.refresh();
  expect(await act({ ...onGithub, fullName: 'Acme/SHOP' }, 'merge')).toBe('done');
  expect(await stage.findRow(onGithub)).toBeUndefined();
});

test('perform: rejects a forge without a credential', async () => {
  await stage.dashboard.settings.save(stage.ada, { githubToken: null, forgejoToken: null, gitlabToken: null });
  await expect(act(onGithub, 'merge')).rejects.toMatchObject({ code: 'invalid_input', field: 'forge' });
});

test('perform: enabling enabled auto-merge and cancelling absent auto-merge succeed', async () => {
  Object.assign(github, { autoMerge: 'MERGE', mergeStateStatus: 'BLOCKED' });
  await stage.refresh();
  expect(await act(onGithub, 'auto_merge')).toBe('done');
  expect(await act(onGitlab, 'cancel_auto_merge')).toBe('done');
  expect(await act(onForgejo, 'cancel_auto_merge')).toBe('done');
  expect(github.autoMerge).toBe('MERGE');
});

describe('a change at the forge since the last refresh', () => {
  test.each<[string, Partial<GithubPullRequest>, ActionName]>([
    ['already_merged', { state: 'MERGED' }, 'merge'],
    ['already_closed', { state: 'CLOSED' }, 'merge'],
    ['already_merged', { state: 'MERGED' }, 'close'],
  ])('%s is reported, and the row disappears', async (code, change, action) => {
    await stage.refresh();
    Object.assign(github, change);
    await expect(act(onGithub, action)).rejects.toMatchObject(actionError(code));
    expect([await stage.findRow(onGithub), stage.writes()]).toEqual([undefined, []]);
  });

  test('a new commit prevents the merge', async () => {
    await stage.refresh();
    github.headRefOid = 'e'.repeat(40);
    await expect(act(onGithub, 'merge')).rejects.toMatchObject(actionError('head_changed'));
    expect(github.state).toBe('OPEN');
  });

  describe('a new commit that the board shows, but that the user has not seen', () => {
    const seen = 'a'.repeat(40);
    const target = { ...onGithub, headSha: seen };
    const change = { headRefOid: 'e'.repeat(40), updatedAt: '2026-05-03T08:00:00Z' };

    test.each<[ActionName, Partial<GithubPullRequest>]>([
      ['merge', {}],
      ['review', {}],
      ['auto_merge', { mergeStateStatus: 'BLOCKED', checks: running }],
    ])('prevents %s', async (action, before) => {
      Object.assign(github, before, change);
      await stage.refresh();
      const input = { review: { verdict: 'approve' } } as const;
      const performed = stage.dashboard.actions.perform(stage.ada, target, action, input);
      await expect(performed).rejects.toMatchObject(actionError('head_changed'));
      expect(stage.writes()).toEqual([]);
      expect(github).toMatchObject({ state: 'OPEN', submitted: [], autoMerge: null });
    });

    test('prevents auto-merge by Trellis', async () => {
      Object.assign(forgejo, { headSha: 'e'.repeat(40) });
      await stage.refresh();
      await expect(act({ ...onForgejo, headSha: seen }, 'auto_merge')).rejects.toMatchObject(
        actionError('head_changed'),
      );
    });

    test('prevents a merge of a pull request that is not on the board yet', async () => {
      Object.assign(github, change);
      await expect(act(target, 'merge')).rejects.toMatchObject(actionError('head_changed'));
      expect(github.state).toBe('OPEN');
    });
  });

  test('the commit that the user has seen is merged', async () => {
    await stage.refresh();
    expect(await act({ ...onGithub, headSha: github.headRefOid }, 'merge')).toBe('done');
    expect(github.state).toBe('MERGED');
  });

  test("a conflict with the base is reported with the forge's reason", async () => {
    await stage.refresh();
    Object.assign(github, { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' });
    await expect(act(onGithub, 'merge')).rejects.toMatchObject(actionError('conflict'));
  });

  test('a pull request that is not on the board yet can be acted on', async () => {
    expect(await act({ ...onGithub, fullName: 'acme/shop' }, 'merge')).toBe('done');
    await expect(act({ ...onGithub, number: 9 }, 'merge')).rejects.toMatchObject(actionError('unknown', 'not_found'));
  });
});

describe('an error of the forge', () => {
  const refused = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + 600) };

  test.each([
    [{ status: 403, body: { message: 'Resource not accessible' } }, 'forbidden', 'permission'],
    [{ status: 404, body: { message: 'Not Found' } }, 'not_found', 'unknown'],
    [{ status: 403, headers: refused, body: { message: 'API rate limit exceeded' } }, 'rate_limited', 'rate_limited'],
    [{ status: 500, body: '<html>' }, 'bad_gateway', 'unknown'],
  ])('%j is reported as %s with action code %s', async (answer, error, code) => {
    await stage.refresh();
    stage.github.failNext(answer, { path: /merge$/ });
    await expect(act(onGithub, 'merge')).rejects.toMatchObject(actionError(code, error));
  });

  test('a missing label is reported as label_missing', async () => {
    Object.assign(forgejo, { author: 'renovate' });
    stage.forgejo.repositories[0]!.labels = [];
    await stage.refresh();
    await expect(act(onForgejo, 'renovate_rebase')).rejects.toMatchObject(actionError('label_missing', 'not_found'));
  });
});

describe('the board shows the effect of an action at once', () => {
  test('a merged pull request is hidden for two minutes, even if its forge still lists it', async () => {
    await stage.refresh();
    await act(onGithub, 'merge');
    expect(await stage.findRow(onGithub)).toBeUndefined();
    github.state = 'OPEN';
    stage.wait(90_000);
    await stage.refresh();
    expect(await stage.findRow(onGithub)).toBeUndefined();
    stage.wait(31_000);
    await stage.refresh();
    expect(await stage.findRow(onGithub)).toBeDefined();
  });

  test('a request to a bot or a forge is shown on the row', async () => {
    github.author = 'dependabot';
    await stage.refresh();
    await act(onGithub, 'dependabot_rebase');
    const botRequest = { bot: 'dependabot', action: 'rebase', phase: 'queued' };
    expect(await stage.findRow(onGithub)).toMatchObject({ botRequest });
    expect(Object.keys((await stage.findRow(onGithub))!.botRequest!).sort()).toEqual([
      'action',
      'bot',
      'commentUrl',
      'expiresAt',
      'phase',
      'requestedAt',
    ]);
  });
});

test('listChecks: returns the current checks at the forge', async () => {
  github.checks = failing;
  const checks = await stage.dashboard.actions.listChecks(stage.ada, onGithub);
  expect(checks).toMatchObject([{ name: 'build', state: 'failure' }]);
  const missing = stage.dashboard.actions.listChecks(stage.ada, { ...onGithub, number: 9 });
  await expect(missing).rejects.toMatchObject({ code: 'not_found', details: undefined });
});
