import { readMarks } from '../../../src/dashboard/actions/marks.js';
import { advanceBotRequest, advanceUpdateRequest } from '../../../src/dashboard/actions/requests.js';
import type { BotRequestState, UpdateRequestState } from '../../../src/dashboard/actions/requests.js';
import type { PullRequest } from '../../../src/dashboard/forges/facts.js';
import { githubRun } from '../../forges/github-state.js';
import { pullRequest } from '../pull-request.js';
import { onGithub, openActionStage, until } from './stage.js';
import type { ActionStage } from './stage.js';

const MINUTE_MS = 60_000;
const times = { requestedAt: '2026-05-02T08:00:00.000Z', expiresAt: '2026-05-02T08:10:00.000Z' };
const AT = Date.parse(times.requestedAt);
const before = { headSha: 'a'.repeat(40), behind: true };
const row = (change: Partial<PullRequest> = {}) => pullRequest({ ...before, ...change });
const queued: BotRequestState = { ...before, bot: 'renovate', action: 'rebase', phase: 'queued', ...times };
const rebasing: BotRequestState = { ...queued, phase: 'rebasing' };
const moved = { headSha: 'b'.repeat(40) };

test.each<[string, BotRequestState, Partial<PullRequest>, number, string | undefined]>([
  ['stays queued while nothing happens', queued, {}, 0, 'queued'],
  ['is at it when the head moved', queued, moved, 0, 'rebasing'],
  ['is at it when it is not behind any more', queued, { behind: false }, 0, 'rebasing'],
  ['is at it late, too', queued, moved, 20 * MINUTE_MS, 'rebasing'],
  ['is not at it as what was not behind is not', { ...queued, behind: false }, { behind: false }, 0, 'queued'],
  ['is still at it', rebasing, moved, 9 * MINUTE_MS, 'rebasing'],
  ['is done when checks run', rebasing, { ...moved, ci: 'pending' }, 0, undefined],
  ['is done in time', rebasing, moved, 10 * MINUTE_MS, undefined],
])('a bot %s', (_reason, state, change, later, phase) => {
  expect(advanceBotRequest(state, row(change), AT + later)?.phase).toBe(phase);
});

test('a bot that is at it has two minutes', () => {
  const state = advanceBotRequest(queued, row(moved), AT);
  expect(state?.expiresAt).toBe('2026-05-02T08:02:00.000Z');
});

test.each<[string, Partial<PullRequest>, boolean]>([
  ['stays while it is behind', {}, true],
  ['ends when it is not', { behind: false }, false],
  ['ends with another head', moved, false],
])('an update that a forge has queued %s', (_reason, change, isKept) => {
  const state: UpdateRequestState = { ...before, phase: 'queued', ...times };
  expect(advanceUpdateRequest(state, row(change))).toBe(isKept ? state : undefined);
});

describe('on the board', () => {
  let stage: ActionStage;
  beforeEach(async () => {
    stage = await openActionStage();
  });
  afterEach(() => stage.close());

  const settle = async () => {
    await stage.refresh();
    await stage.follow();
    return stage.findRow(onGithub);
  };
  /** What follows a refresh is done by whoever is first. */
  const expectSoon = async (phase: string | undefined) => {
    await settle();
    await until(async () => {
      const row = await stage.findRow(onGithub);
      return (row?.botRequest ?? row?.updateRequest)?.phase === phase;
    });
  };

  test('a bot request goes on with what refreshes show', async () => {
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

  test('what nobody did has expired after its time, and is forgotten an hour later', async () => {
    const { github } = stage.one;
    Object.assign(github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
    await stage.refresh();
    await stage.act(onGithub, 'dependabot_rebase');
    stage.wait(10 * MINUTE_MS);
    expect((await settle())?.botRequest?.phase).toBe('expired');
    stage.wait(61 * MINUTE_MS);
    expect(await settle()).not.toHaveProperty('botRequest');
    expect((await readMarks(stage.database, stage.ada.personId, Date.now() + 71 * MINUTE_MS)).pullRequests.size).toBe(
      0,
    );
  });

  describe('of what Dependabot was told', () => {
    const ask = async () => {
      Object.assign(stage.one.github, { author: 'dependabot', mergeStateStatus: 'BEHIND' });
      await stage.refresh();
      await stage.act(onGithub, 'dependabot_rebase');
    };
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
    const countReads = () => stage.github.seen.filter(({ body }) => body.includes('ReadReplies')).length;

    test('the comment is shown, and its thumb up, from which there are ten minutes; then nothing more is read', async () => {
      await ask();
      expect((await settle())?.botRequest).toMatchObject({
        phase: 'queued',
        commentUrl: 'https://github.com/comment/1',
      });
      const acknowledgedAt = inMinutes(5);
      stage.one.github.thumbs = { 0: acknowledgedAt };
      await settle();
      await until(async () => (await stage.findRow(onGithub))?.botRequest?.acknowledgedAt === acknowledgedAt);
      stage.wait(14 * MINUTE_MS);
      const reads = countReads();
      expect((await settle())?.botRequest?.phase).toBe('queued');
      stage.wait(2 * MINUTE_MS);
      expect((await settle())?.botRequest).toMatchObject({ phase: 'expired', acknowledgedAt });
      expect(countReads()).toBe(reads);
    });

    test('a late thumb up revives it', async () => {
      await ask();
      stage.wait(20 * MINUTE_MS);
      expect((await settle())?.botRequest?.phase).toBe('expired');
      stage.one.github.thumbs = { 0: inMinutes(19) };
      await settle();
      await until(async () => (await stage.findRow(onGithub))?.botRequest?.phase === 'queued');
    });

    test('a refusal ends it, and is told of the forge for an hour', async () => {
      await ask();
      const isBlocked = async () => (await stage.board()).forges[0]?.dependabotCommandsBlocked;
      await settle();
      expect(await isBlocked()).toBeUndefined();
      stage.one.github.replies.push('Sorry, only users with push access can use that command.');
      await settle();
      await until(async () => (await isBlocked()) === true);
      expect((await stage.findRow(onGithub))?.botRequest?.phase).toBe('expired');
      stage.wait(61 * MINUTE_MS);
      await settle();
      expect(await isBlocked()).toBeUndefined();
    });

    test('nothing is read once it is at it, nor when nothing was told', async () => {
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

  test('an update that the forge has queued is on its row until it is done', async () => {
    const { github } = stage.one;
    github.mergeStateStatus = 'BEHIND';
    await stage.refresh();
    stage.github.failNext({ status: 202, body: {} }, { path: /update-branch$/ });
    expect(await stage.act(onGithub, 'update_branch')).toBe('queued');
    expect((await stage.findRow(onGithub))?.updateRequest?.phase).toBe('queued');
    await expect(stage.act(onGithub, 'update_branch')).rejects.toMatchObject({ action: { code: 'in_progress' } });
    stage.wait(5 * MINUTE_MS);
    expect((await settle())?.updateRequest?.phase).toBe('expired');
    Object.assign(github, { headRefOid: 'b'.repeat(40), mergeStateStatus: 'CLEAN', updatedAt: '2026-05-09T08:00:00Z' });
    await expectSoon(undefined);
  });
});
