import { afterRefusal, isDue } from '../../../src/dashboard/actions/auto-merge.js';
import type { AutoMergeState } from '../../../src/dashboard/actions/auto-merge.js';
import type { PullRequest } from '../../../src/dashboard/forges/facts.js';
import { ForgeError } from '../../../src/dashboard/forges/forge-error.js';
import type { ForgeErrorKind, ForgeErrorOptions } from '../../../src/dashboard/forges/forge-error.js';
import type { ForgejoPullRequest } from '../../forges/forgejo-state.js';
import { pullRequest } from '../pull-request.js';
import { onForgejo, openActionStage, refusal, until } from './stage.js';
import type { ActionStage } from './stage.js';

const MINUTE_MS = 60_000;
const waiting: AutoMergeState = { state: 'waiting', message: '', fullName: 'acme/depot' };
const UPDATED = pullRequest().updatedAt;

describe('is merged', () => {
  test.each<[string, boolean, Partial<PullRequest>]>([
    ['when it can be', true, {}],
    ['behind, as long as the forge would', true, { behind: true }],
    ['never without checks', false, { ci: 'none' }],
    ['not while they run', false, { ci: 'pending' }],
    ['not when they fail', false, { ci: 'failure' }],
    ['not while it is blocked', false, { mergeStatus: 'blocked' }],
    ['not while nobody knows', false, { mergeStatus: 'unknown' }],
    ['not as a draft', false, { draft: true }],
    ['not when it would change nothing', false, { empty: true }],
    ['not on top of another', false, { stackedOn: { number: 1, url: 'https://forge/1' } }],
  ])('%s', (_reason, expected, change) => {
    expect(isDue(waiting, pullRequest(change), 0)).toBe(expected);
  });

  test.each<[string, boolean, Partial<AutoMergeState>]>([
    ['not again before something has changed', false, { triedFor: UPDATED }],
    ['again when something has', true, { triedFor: '2026-05-01T00:00:00Z' }],
    ['not before the forge takes it', false, { triedFor: '2026-05-01T00:00:00Z', retryAt: 11 }],
    ['again when nothing was decided', true, { triedFor: UPDATED, retryAt: 10 }],
  ])('%s', (_reason, expected, state) => {
    expect(isDue({ ...waiting, ...state }, pullRequest(), 10)).toBe(expected);
  });
});

test.each<[string, ForgeErrorKind, ForgeErrorOptions, Partial<AutoMergeState>]>([
  ['no answer', 'unreachable', { refusal: 'unknown' }, { state: 'waiting', retryAt: 300_000 }],
  ['an odd answer', 'unknown', { refusal: 'unknown' }, { state: 'waiting', retryAt: 300_000 }],
  ['a limit', 'rate_limited', { refusal: 'rate_limited' }, { state: 'waiting', retryAt: 300_000 }],
  ['a limit that is told', 'rate_limited', { resetsAt: 900_000 }, { state: 'waiting', retryAt: 900_000 }],
  ['a missing permission', 'unauthorized', { refusal: 'permission' }, { state: 'stopped', code: 'permission' }],
  ['a conflict', 'conflict', { refusal: 'conflict' }, { state: 'stopped', code: 'conflict' }],
])('after %s (%s %j) it is %j', (_reason, kind, options, state) => {
  const after = afterRefusal(new ForgeError(kind, options), pullRequest(), 0);
  expect(after).toMatchObject({ ...state, triedFor: UPDATED });
});

describe('at Forgejo, which has no such thing', () => {
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

  const arm = () => stage.act(onForgejo, 'auto_merge');
  const isMerged = () => until(() => one.merged);
  const settle = async () => {
    await stage.refresh();
    await stage.follow();
  };
  const tries = () => stage.writes().filter((write) => write.endsWith('/merge')).length;

  test('it shows on the row, and can be taken back', async () => {
    await arm();
    expect(await stage.findRow(onForgejo)).toMatchObject({ autoMergeEnabled: true, autoMerge: { state: 'waiting' } });
    expect(await stage.act(onForgejo, 'cancel_auto_merge')).toBe('done');
    expect(await stage.findRow(onForgejo)).not.toHaveProperty('autoMerge');
    one.status = 'success';
    await settle();
    expect(one.merged).toBe(false);
  });

  test('it is merged once its checks have passed, and that is news for ten minutes', async () => {
    await arm();
    await settle();
    expect(tries()).toBe(0);
    one.status = 'success';
    await stage.refresh();
    await isMerged();
    await until(async () => (await stage.board()).autoMerged.length === 1);
    const { autoMerged, pullRequests } = await stage.board();
    expect(autoMerged).toMatchObject([{ forge: 'forgejo', fullName: 'acme/depot', number: 1 }]);
    expect(pullRequests.filter(({ forge }) => forge === 'forgejo')).toEqual([]);
    stage.wait(11 * MINUTE_MS);
    expect((await stage.refresh()).autoMerged).toEqual([]);
    expect(tries()).toBe(1);
  });

  test('it is merged once, whichever process sees it', async () => {
    await arm();
    one.status = 'success';
    const others = [stage.dashboard, stage.another(), stage.another()];
    await Promise.all(others.map(({ refresher }) => refresher.refresh(stage.ada.personId)));
    await isMerged();
    await settle();
    expect(tries()).toBe(1);
  });

  test('refused, it is stopped until something changes', async () => {
    await arm();
    one.status = 'success';
    stage.forgejo.failNext({ status: 403, body: {} }, { path: /merge$/ });
    await stage.refresh();
    await until(async () => (await stage.findRow(onForgejo))?.autoMerge?.state === 'stopped');
    expect((await stage.findRow(onForgejo))?.autoMerge).toMatchObject({ code: 'permission' });
    stage.wait(10 * MINUTE_MS);
    await settle();
    expect([tries(), one.merged]).toEqual([1, false]);
    one.updatedAt = '2026-05-09T08:00:00Z';
    await stage.refresh();
    await isMerged();
  });

  test('while the forge is away it is tried again after five minutes', async () => {
    await arm();
    one.status = 'success';
    stage.forgejo.failNext(() => 'reset', { path: /merge$/ });
    await stage.refresh();
    await until(() => tries() === 1);
    await settle();
    expect(tries()).toBe(1);
    stage.wait(5 * MINUTE_MS);
    await stage.refresh();
    await isMerged();
    expect(tries()).toBe(2);
  });

  test('what was merged without an answer is not merged again', async () => {
    await arm();
    one.status = 'success';
    const merge = () => (Object.assign(one, { merged: true, state: 'closed' }), 'reset' as const);
    stage.forgejo.failNext(merge, { path: /merge$/ });
    await stage.refresh();
    await isMerged();
    stage.wait(6 * MINUTE_MS);
    await settle();
    expect(tries()).toBe(1);
    const wishes = stage.database.selectFrom('pull_request_marks').select('kind').where('kind', '=', 'auto_merge');
    await until(async () => (await wishes.execute()).length === 0);
  });

  test('one that is not on the board is looked for at the forge', async () => {
    await stage.database.deleteFrom('boards').execute();
    expect(await arm()).toBe('done');
    await stage.act(onForgejo, 'cancel_auto_merge');
    const missing = stage.act({ ...onForgejo, number: 9 }, 'auto_merge');
    await expect(missing).rejects.toMatchObject(refusal('unknown', 'not_found'));
  });
});
