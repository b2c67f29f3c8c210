import { ForgeError, type ForgeErrorKind, type ForgeErrorOptions } from '../../../src/dashboard/forges/forge-error.js';
import type { PullRequest } from '../../../src/dashboard/forges/forge.js';
import { toStoppedState, isMergeDue, type AutoMergeState } from '../../../src/dashboard/pull-requests/auto-merge.js';
import type { ForgejoPullRequest } from '../../forges/forgejo-state.js';
import { pullRequest } from '../pull-request.js';
import { onForgejo, openActionStage, actionError, until, type ActionStage } from './fixtures.js';

const MINUTE_MS = 60_000;
const waiting: AutoMergeState = { state: 'waiting', message: '', fullName: 'acme/depot' };
const UPDATED = pullRequest().updatedAt;

describe('isMergeDue: a pull request is merged', () => {
  test.each<[string, boolean, Partial<PullRequest>]>([
    ['if it is mergeable', true, {}],
    ['even if it is behind, if the forge allows it', true, { behind: true }],
    ['not without checks', false, { ci: 'none' }],
    ['not while checks run', false, { ci: 'pending' }],
    ['not if checks fail', false, { ci: 'failure' }],
    ['not while it is blocked', false, { mergeStatus: 'blocked' }],
    ['not while the merge status is unknown', false, { mergeStatus: 'unknown' }],
    ['not if it is a draft', false, { draft: true }],
    ['not if it is empty', false, { empty: true }],
    ['not if it is stacked on another pull request', false, { stackedOn: { number: 1, url: 'https://forge/1' } }],
  ])('%s', (_reason, expected, change) => {
    expect(isMergeDue(waiting, pullRequest(change), 0)).toBe(expected);
  });

  test.each<[string, boolean, Partial<AutoMergeState>]>([
    ['not again before it has changed', false, { triedFor: UPDATED }],
    ['again once it has changed', true, { triedFor: '2026-05-01T00:00:00Z' }],
    ['not before the retry time', false, { triedFor: '2026-05-01T00:00:00Z', retryAt: 11 }],
    ['again at the retry time, if the forge did not decide', true, { triedFor: UPDATED, retryAt: 10 }],
  ])('%s', (_reason, expected, state) => {
    expect(isMergeDue({ ...waiting, ...state }, pullRequest(), 10)).toBe(expected);
  });
});

test.each<[string, ForgeErrorKind, ForgeErrorOptions, Partial<AutoMergeState>]>([
  ['no response', 'unreachable', { refusal: 'unknown' }, { state: 'waiting', retryAt: 300_000 }],
  ['an unexpected response', 'unknown', { refusal: 'unknown' }, { state: 'waiting', retryAt: 300_000 }],
  ['a rate limit', 'rate_limited', { refusal: 'rate_limited' }, { state: 'waiting', retryAt: 300_000 }],
  ['a rate limit with a reset time', 'rate_limited', { resetsAt: 900_000 }, { state: 'waiting', retryAt: 900_000 }],
  ['a missing permission', 'unauthorized', { refusal: 'permission' }, { state: 'stopped', code: 'permission' }],
  ['a conflict', 'conflict', { refusal: 'conflict' }, { state: 'stopped', code: 'conflict' }],
])('toStoppedState: after %s (%s %j), the state is %j', (_reason, kind, options, state) => {
  const after = toStoppedState(new ForgeError(kind, options), pullRequest(), 0);
  expect(after).toMatchObject({ ...state, triedFor: UPDATED });
});

describe('auto-merge by Trellis at Forgejo', () => {
  let stage: ActionStage;
  let one: ForgejoPullRequest;

  beforeEach(async () => {
    stage = await openActionStage();
    one = stage.one.forgejo;
    one.status = 'pending';
    await stage.refresh();
  });
  afterEach(async () => {
    expect(stage.reported).toEqual([]);
    await stage.close();
  });

  const enable = () => stage.act(onForgejo, 'auto_merge');
  const isMerged = () => until(() => one.merged);
  const settle = async () => {
    await stage.refresh();
    await stage.runAutomation();
  };
  const attempts = () => stage.writes().filter((write) => write.endsWith('/merge')).length;

  test('is shown on the row, and can be cancelled', async () => {
    await enable();
    expect(await stage.findRow(onForgejo)).toMatchObject({ autoMergeEnabled: true, autoMerge: { state: 'waiting' } });
    expect(await stage.act(onForgejo, 'cancel_auto_merge')).toBe('done');
    expect(await stage.findRow(onForgejo)).not.toHaveProperty('autoMerge');
    one.status = 'success';
    await settle();
    expect(one.merged).toBe(false);
  });

  test('merges once checks have passed, and is listed on the board for ten minutes', async () => {
    await enable();
    await settle();
    expect(attempts()).toBe(0);
    one.status = 'success';
    await stage.refresh();
    await isMerged();
    await until(async () => (await stage.board()).autoMerged.length === 1);
    const { autoMerged, pullRequests } = await stage.board();
    expect(autoMerged).toMatchObject([{ forge: 'forgejo', fullName: 'acme/depot', number: 1 }]);
    expect(pullRequests.filter(({ forge }) => forge === 'forgejo')).toEqual([]);
    stage.wait(11 * MINUTE_MS);
    expect((await stage.refresh()).autoMerged).toEqual([]);
    expect(attempts()).toBe(1);
  });

  test('merges once, even if several processes refresh', async () => {
    await enable();
    one.status = 'success';
    const others = [stage.dashboard, stage.openProcess(), stage.openProcess()];
    await Promise.all(others.map(({ refresher }) => refresher.refresh(stage.ada.personId)));
    await isMerged();
    await settle();
    expect(attempts()).toBe(1);
  });

  test('stops after a rejection until the pull request changes', async () => {
    await enable();
    one.status = 'success';
    stage.forgejo.failNext({ status: 403, body: {} }, { path: /merge$/ });
    await stage.refresh();
    await until(async () => (await stage.findRow(onForgejo))?.autoMerge?.state === 'stopped');
    expect((await stage.findRow(onForgejo))?.autoMerge).toMatchObject({ code: 'permission' });
    stage.wait(10 * MINUTE_MS);
    await settle();
    expect([attempts(), one.merged]).toEqual([1, false]);
    one.updatedAt = '2026-05-09T08:00:00Z';
    await stage.refresh();
    await isMerged();
  });

  test.each<[string, Partial<ForgejoPullRequest>]>([
    ['a fork', { fromFork: true }],
    ['a pull request by `git push`', { headRef: 'refs/pull/1/head' }],
  ])('stops if the author pushes to the branch of %s, and can be enabled again', async (_reason, change) => {
    Object.assign(one, change);
    await stage.refresh();
    await enable();
    Object.assign(one, { headSha: 'f'.repeat(40), updatedAt: '2026-05-09T08:00:00Z', status: 'success' });
    await stage.refresh();
    await until(async () => (await stage.findRow(onForgejo))?.autoMerge?.code === 'head_changed');
    one.updatedAt = '2026-05-09T09:00:00Z';
    await settle();
    expect([attempts(), (await stage.findRow(onForgejo))?.autoMerge?.state]).toEqual([0, 'stopped']);
    await stage.act(onForgejo, 'cancel_auto_merge');
    one.status = 'pending';
    await stage.refresh();
    await enable();
    one.status = 'success';
    await stage.refresh();
    await isMerged();
  });

  test('continues after a push by someone who can write to the repository', async () => {
    await enable();
    Object.assign(one, { headSha: 'f'.repeat(40), updatedAt: '2026-05-09T08:00:00Z', status: 'success' });
    await stage.refresh();
    await isMerged();
  });

  test('continues after an update of the branch of a fork by the user', async () => {
    Object.assign(one, { fromFork: true, mergeBase: 'c'.repeat(40) });
    await stage.refresh();
    await enable();
    await stage.act(onForgejo, 'update_branch');
    // The forge still shows the commit from before the update.
    await stage.refresh();
    await settle();
    Object.assign(one, { headSha: 'f'.repeat(40), updatedAt: '2026-05-09T08:00:00Z' });
    await stage.refresh();
    await settle();
    expect((await stage.findRow(onForgejo))?.autoMerge).toMatchObject({ state: 'waiting' });
    Object.assign(one, { status: 'success', updatedAt: '2026-05-09T09:00:00Z' });
    await stage.refresh();
    await isMerged();
  });

  test('retries after five minutes if the forge is unreachable', async () => {
    await enable();
    one.status = 'success';
    stage.forgejo.failNext(() => 'reset', { path: /merge$/ });
    await stage.refresh();
    await until(() => attempts() === 1);
    await settle();
    expect(attempts()).toBe(1);
    stage.wait(5 * MINUTE_MS);
    await stage.refresh();
    await isMerged();
    expect(attempts()).toBe(2);
  });

  test('does not merge again if the response was lost', async () => {
    await enable();
    one.status = 'success';
    const merge = () => (Object.assign(one, { merged: true, state: 'closed' }), 'reset' as const);
    stage.forgejo.failNext(merge, { path: /merge$/ });
    await stage.refresh();
    await isMerged();
    stage.wait(6 * MINUTE_MS);
    await settle();
    expect(attempts()).toBe(1);
    const entries = stage.database.selectFrom('pull_request_marks').select('kind').where('kind', '=', 'auto_merge');
    await until(async () => (await entries.execute()).length === 0);
  });

  test('reads pull requests that are not on the board from the forge', async () => {
    await stage.database.deleteFrom('boards').execute();
    expect(await enable()).toBe('done');
    await stage.act(onForgejo, 'cancel_auto_merge');
    const missing = stage.act({ ...onForgejo, number: 9 }, 'auto_merge');
    await expect(missing).rejects.toMatchObject(actionError('unknown', 'not_found'));
  });
});
