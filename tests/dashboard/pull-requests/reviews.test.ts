import type { ActionInput, ActionName } from '../../../src/dashboard/forges/forge.js';
import type { ActionTarget } from '../../../src/dashboard/pull-requests/actions.js';
import { actionError, onForgejo, onGithub, onGitlab, openActionStage, until, type ActionStage } from './fixtures.js';

let stage: ActionStage;

beforeEach(async () => {
  stage = await openActionStage();
  Object.assign(stage.one.github, {
    author: 'lisa',
    assignees: ['mona'],
    labels: [{ name: 'stale', color: 'ededed' }],
  });
  Object.assign(stage.one.forgejo, { author: 'ada', assignees: ['mona'] });
  Object.assign(stage.one.gitlab, { username: 'lisa', assignees: ['mona'], reviewers: ['ada'] });
  stage.forgejo.repositories[0]?.labels.push({ id: 8, name: 'bug' });
  await stage.refresh();
});
afterEach(async () => {
  expect(stage.reported).toEqual([]);
  await stage.close();
});

const perform = (target: ActionTarget, action: ActionName, input: ActionInput) =>
  stage.dashboard.actions.perform(stage.ada, target, action, input);

describe('a review', () => {
  test.each([
    ['approve', 'APPROVED', undefined],
    ['request_changes', 'CHANGES_REQUESTED', 'Please add a test.'],
    ['comment', 'COMMENTED', 'Why?'],
  ] as const)('%s at GitHub is submitted once, for the commit on the board', async (verdict, state, text) => {
    await perform(onGithub, 'review', { review: { verdict, text } });
    expect(stage.one.github.submitted).toMatchObject([{ author: 'mona', state }]);
    expect(stage.writes()).toEqual(['POST /api/v3/repos/acme/shop/pulls/1/reviews']);
  });

  test.each([
    ['approve', 'APPROVED'],
    ['request_changes', 'REQUEST_CHANGES'],
    ['comment', 'COMMENT'],
  ] as const)('%s at Forgejo is submitted', async (verdict, state) => {
    await perform(onForgejo, 'review', { review: { verdict, text: 'See line 3.' } });
    expect(stage.one.forgejo.reviews).toMatchObject([{ login: 'mona', state }]);
  });

  test('at GitLab is an approval and a comment', async () => {
    await perform(onGitlab, 'review', { review: { verdict: 'approve', text: 'Nice.' } });
    expect(stage.one.gitlab).toMatchObject({ approvedBy: ['mona'], notes: [{ body: 'Nice.' }] });
  });

  test('of a commit that is no longer the newest is not submitted', async () => {
    stage.one.github.headRefOid = 'e'.repeat(40);
    const review = { verdict: 'approve' } as const;
    await expect(perform(onGithub, 'review', { review })).rejects.toMatchObject({ code: 'conflict' });
    expect(stage.one.github.submitted).toEqual([]);
  });

  test("of the user's own pull request is rejected with the reason of GitHub", async () => {
    stage.one.github.author = 'mona';
    const review = { verdict: 'approve' } as const;
    await expect(perform(onGithub, 'review', { review })).rejects.toMatchObject({
      code: 'conflict',
      details: { code: 'unknown', forgeMessage: 'Can not approve your own pull request' },
    });
  });

  test.each([
    [
      onGithub,
      /\/reviews$/,
      { status: 422, body: { message: 'Unprocessable Entity', errors: ['Can not approve your own pull request'] } },
      'Unprocessable Entity: Can not approve your own pull request',
    ],
    [
      onGithub,
      /\/reviews$/,
      {
        status: 422,
        body: { message: 'Validation Failed', errors: [{ code: 'custom', message: 'Body is too long' }] },
      },
      'Validation Failed: Body is too long',
    ],
    [
      onGitlab,
      /\/notes$/,
      { status: 400, body: { message: { note: ['is too long'], base: ['x'] } } },
      'note is too long; x',
    ],
    [onGitlab, /\/notes$/, { status: 400, body: { error: 'body is empty' } }, 'body is empty'],
  ])('that is rejected has the reason of the forge, and can be submitted again: %#', async (on, path, fault, words) => {
    const review = { verdict: 'comment', text: 'Why?' } as const;
    stage[on.forge].failNext(fault, { path });
    await expect(perform(on, 'review', { review })).rejects.toMatchObject({ details: { forgeMessage: words } });
    await expect(perform(on, 'review', { review })).resolves.toBe('done');
  });

  test('is not repeated for 10 minutes after its response was lost', async () => {
    const review = { verdict: 'comment', text: 'Why?' } as const;
    stage.github.failNext({ status: 502, body: '' }, { path: /\/reviews$/ });
    await expect(perform(onGithub, 'review', { review })).rejects.toMatchObject({ code: 'bad_gateway' });
    await expect(perform(onGithub, 'review', { review })).rejects.toMatchObject(actionError('unknown'));
    stage.wait(600_000);
    await perform(onGithub, 'review', { review });
    expect(stage.one.github.submitted).toHaveLength(1);
  });
});

describe('an edit', () => {
  const edit = {
    assignees: { add: ['lisa'], remove: ['mona'] },
    labels: { add: ['bug'], remove: ['stale'] },
  };

  test('at GitHub changes reviewers, teams, assignees and labels', async () => {
    stage.one.github.author = 'ada';
    stage.one.github.requested = ['mona'];
    await perform(onGithub, 'edit', { edit: { ...edit, reviewers: { add: ['lisa', 'acme/core'], remove: ['mona'] } } });
    expect(stage.one.github).toMatchObject({
      requested: ['lisa', 'team:core'],
      assignees: ['lisa'],
      labels: [{ name: 'bug' }],
    });
  });

  test('at Forgejo changes reviewers, teams, assignees and labels', async () => {
    const reviewers = { add: ['lisa', 'acme/core'] };
    await perform(onForgejo, 'edit', {
      edit: { ...edit, reviewers, labels: { add: ['bug', 'rebase'], remove: ['bug'] } },
    });
    expect(stage.one.forgejo).toMatchObject({
      requested: ['lisa'],
      teams: ['core'],
      assignees: ['lisa'],
      labels: [{ name: 'rebase' }],
    });
  });

  test('at GitLab keeps the other reviewers and assignees', async () => {
    await perform(onGitlab, 'edit', { edit: { ...edit, reviewers: { add: ['lisa'] } } });
    expect(stage.one.gitlab).toMatchObject({
      reviewers: ['lisa', 'ada'],
      assignees: ['lisa'],
      labels: [{ title: 'bug' }],
    });
  });

  test('shows on the board without another refresh', async () => {
    await perform(onGithub, 'edit', { edit: { labels: { add: ['bug'] } } });
    const readLabels = async () => (await stage.findRow(onGithub))?.labels.map(({ name }) => name);
    await until(async () => (await readLabels())?.includes('bug') === true);
    expect(await readLabels()).toEqual(['stale', 'bug']);
  });

  test('may be repeated', async () => {
    const input = { edit: { labels: { remove: ['stale'] }, assignees: { add: ['lisa'] } } };
    await perform(onGithub, 'edit', input);
    await perform(onGithub, 'edit', input);
    expect(stage.one.github).toMatchObject({ assignees: ['mona', 'lisa'], labels: [] });
  });

  test.each<[string, ActionTarget, ActionInput['edit'], object]>([
    ['a reviewer without access to GitHub', onGithub, { reviewers: { add: ['eve'] } }, { code: 'conflict' }],
    ['a reviewer who is unknown to Forgejo', onForgejo, { reviewers: { add: ['eve'] } }, { code: 'not_found' }],
    ['a label that Forgejo lacks', onForgejo, { labels: { add: ['none'] } }, actionError('label_missing', 'not_found')],
    ['an assignee who is unknown to GitLab', onGitlab, { assignees: { add: ['eve'] } }, { code: 'not_found' }],
  ])('is rejected for %s', async (_case, target, wrong, error) => {
    await expect(perform(target, 'edit', { edit: wrong })).rejects.toMatchObject(error);
  });
});
