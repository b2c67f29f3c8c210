import type { PullRequest } from '../../../src/dashboard/forges/forge.js';
import {
  advanceBotRequest,
  advanceUpdateRequest,
  type BotRequestState,
  type UpdateRequestState,
} from '../../../src/dashboard/pull-requests/effects.js';
import { readLocalState } from '../../../src/dashboard/pull-requests/local-state.js';
import { githubRun } from '../../forges/github-state.js';
import { pullRequest } from '../pull-request.js';
import { onGithub, openActionStage, until, type ActionStage } from './fixtures.js';

const MINUTE_MS = 60_000;
const times = { requestedAt: '2026-05-02T08:00:00.000Z', expiresAt: '2026-05-02T08:10:00.000Z' };
const AT = Date.parse(times.requestedAt);
const before = { headSha: 'a'.repeat(40), behind: true };
const row = (change: Partial<PullRequest> = {}) => pullRequest({ ...before, ...change });
const queued: BotRequestState = { ...before, bot: 'renovate', action: 'rebase', phase: 'queued', ...times };
const rebasing: BotRequestState = { ...queued, phase: 'rebasing' };
const moved = { headSha: 'b'.repeat(40) };

test.each<[string, BotRequestState, Partial<PullRequest>, number, string | undefined]>([
  ['stays queued without changes', queued, {}, 0, 'queued'],
  ['is rebasing after a new head commit', queued, moved, 0, 'rebasing'],
  ['is rebasing once the branch is up to date', queued, { behind: false }, 0, 'rebasing'],
  ['is rebasing after a late head commit', queued, moved, 20 * MINUTE_MS, 'rebasing'],
  ['stays queued if the branch was never behind', { ...queued, behind: false }, { behind: false }, 0, 'queued'],
  ['is still rebasing before its time limit', rebasing, moved, 9 * MINUTE_MS, 'rebasing'],
  ['is complete when checks run', rebasing, { ...moved, ci: 'pending' }, 0, undefined],
  ['is complete after its time limit', rebasing, moved, 10 * MINUTE_MS, undefined],
])('advanceBotRequest: a request %s', (_reason, state, change, later, phase) => {
  expect(advanceBotRequest(state, row(change), AT + later)?.phase).toBe(phase);
});

test('advanceBotRequest: a rebase has a time limit of two minutes', () => {
  const state = advanceBotRequest(queued, row(moved), AT);
  expect(state?.expiresAt).toBe('2026-05-02T08:02:00.000Z');
});

test.each<[string, Partial<PullRequest>, boolean]>([
  ['remains while the branch is behind', {}, true],
  ['ends when the branch is up to date', { behind: false }, false],
  ['ends with a new head commit', moved, false],
])('advanceUpdateRequest: a queued update %s', (_reason, change, isKept) => {
  const state: UpdateRequestState = { ...before, phase: 'queued', ...times };
  expect(advanceUpdateRequest(state, row(change))).toBe(isKept ? state : undefined);
});

describe('pending requests on the board', () => {
  let stage: ActionStage;
  beforeEach(async () => {
    stage = await openActionStage();
  });
  afterEach(() => stage.close());

  const settle = async () => {
    await stage.refresh();
    await stage.runAutomation();
    return stage.findRow(onGithub);
  };
  /** Waits, because either the stage or the dashboard itself may process the refresh. */
  const expectSoon = async (phase: string | undefined) => {
    await settle();
    await until(async () => {
      const row = await stage.findRow(onGithub);
      return (row?.botRequest ?? row?.updateRequest)?.phase === phase;
    });
  };

  test('a bot request advances with refreshes', async () => {
    const { github } = stage.one;
    Object.assign(github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
    await stage.refresh();
    await stage.act(onGithub, 'dependabot_rebase');
    expect((await settle())?.botRequest?.phase).toBe('queued');
    Object.assign(github, { headRefOid: 'b'.repeat(40), mergeStateStatus: 'CLEAN', updatedAt: '2026-05-09T08:00:00Z' });
    await expectSoon('rebasing');
    github.checks = [githubRun({ status: 'IN_PROGRESS', conclusion: null })];
    await expectSoon(undefined);
  });

  test('a bot request without a reaction expires, and is deleted an hour later', async () => {
    const { github } = stage.one;
    Object.assign(github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
    await stage.refresh();
    await stage.act(onGithub, 'dependabot_rebase');
    stage.wait(10 * MINUTE_MS);
    expect((await settle())?.botRequest?.phase).toBe('expired');
    stage.wait(61 * MINUTE_MS);
    expect(await settle()).not.toHaveProperty('botRequest');
    expect(
      (await readLocalState(stage.database, stage.ada.personId, Date.now() + 71 * MINUTE_MS)).pullRequests.size,
    ).toBe(0);
  });

  describe('a Dependabot command', () => {
    const sendCommand = async () => {
      Object.assign(stage.one.github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
      await stage.refresh();
      await stage.act(onGithub, 'dependabot_rebase');
    };
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
    const countReads = () => stage.github.seen.filter(({ body }) => body.includes('ReadReplies')).length;

    test('shows its comment and the thumbs-up, which gives it ten minutes; replies are then no longer read', async () => {
      await sendCommand();
      expect((await settle())?.botRequest).toMatchObject({
        phase: 'queued',
        commentUrl: 'https://github.com/comment/1',
      });
      const acknowledgedAt = inMinutes(5);
      stage.one.github.thumbs = { 0: acknowledgedAt };
      await settle();
      await until(async () => (await stage.findRow(onGithub))?.botRequest?.acknowledgedAt === acknowledgedAt);
      stage.wait(14 * MINUTE_MS);
      expect((await settle())?.botRequest?.phase).toBe('queued');
      // A refresh that had begun before the thumbs-up was stored may read once more until here.
      const reads = countReads();
      stage.wait(2 * MINUTE_MS);
      expect((await settle())?.botRequest).toMatchObject({ phase: 'expired', acknowledgedAt });
      expect(countReads()).toBe(reads);
    });

    test('is revived by a late thumbs-up', async () => {
      await sendCommand();
      stage.wait(20 * MINUTE_MS);
      expect((await settle())?.botRequest?.phase).toBe('expired');
      stage.one.github.thumbs = { 0: inMinutes(19) };
      await settle();
      await until(async () => (await stage.findRow(onGithub))?.botRequest?.phase === 'queued');
    });

    test('ends with a rejection, which the forge status shows for an hour', async () => {
      await sendCommand();
      const isBlocked = async () => (await stage.board()).forges[0]?.dependabotCommandsBlocked;
      await settle();
      expect(await isBlocked()).toBeUndefined();
      stage.one.github.replies.push('Sorry, only users with push access can use that command.');
      await settle();
      await until(async () => (await isBlocked()) === true);
      expect((await stage.findRow(onGithub))?.botRequest?.phase).toBe('expired');
      stage.wait(61 * MINUTE_MS);
      await settle();
      await until(async () => (await isBlocked()) === undefined);
    });

    test('causes no reads of replies before it is sent or once the rebase has started', async () => {
      Object.assign(stage.one.github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
      await settle();
      expect(countReads()).toBe(0);
      await stage.act(onGithub, 'dependabot_rebase');
      Object.assign(stage.one.github, { headRefOid: 'b'.repeat(40), updatedAt: '2026-05-09T08:00:00Z' });
      await expectSoon('rebasing');
      const reads = countReads();
      await settle();
      expect(countReads()).toBe(reads);
    });
  });

  test('a queued update is shown on its row until it is complete', async () => {
    const { github } = stage.one;
    github.mergeStateStatus = 'BEHIND';
    await stage.refresh();
    stage.github.failNext({ status: 202, body: {} }, { path: /update-branch$/ });
    expect(await stage.act(onGithub, 'update_branch')).toBe('queued');
    expect((await stage.findRow(onGithub))?.updateRequest?.phase).toBe('queued');
    await expect(stage.act(onGithub, 'update_branch')).rejects.toMatchObject({ details: { code: 'in_progress' } });
    stage.wait(5 * MINUTE_MS);
    expect((await settle())?.updateRequest?.phase).toBe('expired');
    Object.assign(github, { headRefOid: 'b'.repeat(40), mergeStateStatus: 'CLEAN', updatedAt: '2026-05-09T08:00:00Z' });
    await expectSoon(undefined);
  });
});
