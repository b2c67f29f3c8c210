import { toBoardRows } from '../../../src/dashboard/forges/board-rows.js';
import { ForgeError } from '../../../src/dashboard/forges/forge-error.js';
import type { ActionName, PullRequest, ForgePullRequest } from '../../../src/dashboard/forges/forge.js';
import {
  INITIAL_UPDATE_STATE,
  toRefreshedState,
  toRejectedState,
  toSendingState,
  findDueUpdate,
  type AutoUpdateState,
} from '../../../src/dashboard/pull-requests/automation.js';
import { forgejoPullRequest } from '../../forges/forgejo-state.js';
import { githubRun } from '../../forges/github-state.js';
import { forgePullRequest } from '../forges/model-fixtures.js';
import { onForgejo, onGithub, openActionStage, until, type ActionStage } from './fixtures.js';

const DAY_MS = 86_400_000;
const [HEAD, OTHER] = ['a'.repeat(40), 'b'.repeat(40)];

function rowOf(change: Partial<ForgePullRequest>, local: Partial<PullRequest> = {}): PullRequest {
  const reader = { forge: 'github', username: '', renovateAuthors: [] } as const;
  const [row] = toBoardRows(
    { pullRequests: [forgePullRequest({ behind: true, ...change })], issues: [] },
    reader,
  ).pullRequests;
  return { ...row!, ...local };
}

const asked = { bot: 'dependabot', action: 'rebase', requestedAt: '', expiresAt: '' } as const;

test.each<[string, ActionName | undefined, Partial<ForgePullRequest>, Partial<PullRequest>]>([
  ['a branch that is behind', 'update_branch', {}, {}],
  ['a branch that is not behind', undefined, { behind: false }, {}],
  ['a Dependabot branch, by a comment', 'dependabot_rebase', { author: 'dependabot[bot]' }, {}],
  ['a Renovate branch, by its label', 'renovate_rebase', { author: 'renovate' }, {}],
  ['a release', undefined, { labels: [{ name: 'autorelease: pending', color: 'ededed' }] }, {}],
  ['a conflicting branch', undefined, { mergeStatus: 'conflicting' }, {}],
  ['an empty pull request', undefined, { empty: true }, {}],
  ['a branch with an unknown head', undefined, { headSha: '' }, {}],
  [
    'a branch with a pending bot request',
    undefined,
    { author: 'dependabot' },
    { botRequest: { ...asked, phase: 'queued' } },
  ],
])('findDueUpdate: for %s, returns %s', (_reason, action, change, local) => {
  expect(findDueUpdate(INITIAL_UPDATE_STATE, rowOf(change, local), 0)).toBe(action);
});

describe('findDueUpdate: after an update', () => {
  const sent = toSendingState(INITIAL_UPDATE_STATE, rowOf({}), { action: 'update_branch', at: 0 });

  test.each<[string, ActionName | undefined, Partial<ForgePullRequest>, number]>([
    ['nothing is due at the next refresh', undefined, {}, 1],
    ['nothing is due after a day', undefined, {}, DAY_MS],
    ['an update is due for a new commit', 'update_branch', { headSha: OTHER }, 1],
  ])('%s', (_reason, action, change, at) => {
    expect(findDueUpdate(toRefreshedState(sent, rowOf(change)), rowOf(change), at)).toBe(action);
  });

  test('an update is due if the branch was up to date and falls behind again', () => {
    const seen = toRefreshedState(sent, rowOf({ behind: false }));
    expect(findDueUpdate(seen, rowOf({}), 1)).toBe('update_branch');
  });

  test('at most six are due per day', () => {
    let state: AutoUpdateState = INITIAL_UPDATE_STATE;
    const send = (at: number): boolean => {
      const row = rowOf({ headSha: String(at).padStart(40, '0') });
      const action = findDueUpdate(state, row, at);
      if (action !== undefined) state = toSendingState(state, row, { action, at });
      return action !== undefined;
    };
    expect(Array.from({ length: 9 }, (_none, at) => send(at)).filter(Boolean)).toHaveLength(6);
    expect(send(DAY_MS)).toBe(true);
  });

  test('a rate limit leads to a retry after its reset', () => {
    const limited = toRejectedState(sent, new ForgeError('rate_limited', { resetsAt: 900_000 }), 0);
    expect([899_999, 900_000].map((at) => findDueUpdate(limited, rowOf({}), at))).toEqual([undefined, 'update_branch']);
    const forbidden = toRejectedState(sent, new ForgeError('unauthorized', { refusal: 'permission' }), 0);
    expect(findDueUpdate(forbidden, rowOf({}), DAY_MS)).toBeUndefined();
  });
});

describe('findDueUpdate: after a rebase by Dependabot', () => {
  const row = (change: Partial<ForgePullRequest>) => rowOf({ author: 'dependabot', behind: false, ...change });
  const sent = toSendingState(INITIAL_UPDATE_STATE, row({ behind: true }), { action: 'dependabot_rebase', at: 0 });
  const follow = (...changes: Partial<ForgePullRequest>[]) =>
    changes.reduce((state, change) => toRefreshedState(state, row(change)), sent);

  test('failing checks lead to one recreate', () => {
    const red = row({ headSha: OTHER, ci: 'failure' });
    const state = follow({ headSha: OTHER, ci: 'pending' }, { headSha: OTHER, ci: 'failure' });
    expect(findDueUpdate(state, red, 1)).toBe('dependabot_recreate');
    const again = toSendingState(state, red, { action: 'dependabot_recreate', at: 1 });
    expect(findDueUpdate(toRefreshedState(again, red), red, 2)).toBeUndefined();
  });

  test.each<[string, Partial<ForgePullRequest>[]]>([
    ['failed before the rebase', []],
    ['have passed in between', [{ headSha: OTHER, ci: 'success' }]],
  ])('failing checks lead to no recreate if they %s', (_reason, changes) => {
    const last = row({ headSha: changes.length === 0 ? HEAD : OTHER, ci: 'failure' });
    expect(findDueUpdate(follow(...changes), last, 1)).toBeUndefined();
  });
});

describe('branch updates after refreshes', () => {
  let stage: ActionStage;
  beforeEach(async () => {
    stage = await openActionStage();
  });
  afterEach(async () => {
    expect(stage.reported).toEqual([]);
    await stage.close();
  });

  const settle = async () => {
    await stage.refresh();
    await stage.runAutomation();
  };

  test('update the branches of enabled repositories, once each', async () => {
    const { repositories } = stage.dashboard;
    const { github, forgejo } = stage.one;
    Object.assign(github, { mergeStateStatus: 'BEHIND' });
    Object.assign(forgejo, { mergeBase: 'c'.repeat(40) });
    await settle();
    expect(stage.writes()).toEqual([]);
    await repositories.enableAutoUpdate(stage.ada, { forge: 'forgejo', fullName: 'ACME/depot' });
    await settle();
    await settle();
    expect(stage.writes()).toEqual(['POST /api/v1/repos/acme/depot/pulls/1/update']);
    await until(async () => (await stage.findRow(onForgejo))?.behind === false);
    await repositories.disableAutoUpdate(stage.ada, { forge: 'forgejo', fullName: 'acme/depot' });
    forgejo.mergeBase = 'd'.repeat(40);
    await settle();
    expect(stage.writes()).toHaveLength(1);
  });

  test('send Dependabot one comment across all processes, and a recreate command if the rebase fails', async () => {
    const { github } = stage.one;
    Object.assign(github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
    await stage.dashboard.repositories.enableAutoUpdate(stage.ada, onGithub);
    const { refresher } = stage.openProcess();
    await Promise.all([stage.refresh(), refresher.refresh(stage.ada.personId)]);
    await stage.runAutomation();
    stage.wait(2 * 3_600_000);
    await settle();
    expect(github.comments).toEqual(['@dependabot rebase']);
    Object.assign(github, { headRefOid: OTHER, mergeStateStatus: 'UNSTABLE', updatedAt: '2026-05-09T08:00:00Z' });
    github.checks = [githubRun({ conclusion: 'FAILURE' })];
    await settle();
    await settle();
    expect(github.comments).toEqual(['@dependabot rebase', '@dependabot recreate']);
  });

  test('update ten branches per minute, and the others later', async () => {
    const behind = { mergeBase: 'c'.repeat(40) };
    const others = Array.from({ length: 14 }, (_none, index) => forgejoPullRequest(index + 2, behind));
    stage.forgejo.repositories[0]!.pullRequests.push(...others);
    await stage.refresh();
    await stage.dashboard.repositories.enableAutoUpdate(stage.ada, onForgejo);
    await stage.runAutomation();
    await settle();
    expect(stage.writes()).toHaveLength(10);
    stage.wait(60_000);
    await settle();
    await until(() => stage.writes().length === 14);
  });
});
