import { createUserStore } from '../../../src/accounts/users.js';
import type { Dashboard } from '../../../src/dashboard/dashboard.js';
import type { ActionName } from '../../../src/dashboard/forges/forge.js';
import { createAttempts, deleteExpiredAttempts } from '../../../src/dashboard/pull-requests/send-action-once.js';
import { openDatabase } from '../../../src/storage/open-database.js';
import { githubRun, type GithubPullRequest } from '../../forges/github-state.js';
import { createDatabaseTarget } from '../../storage/engine.js';
import { onGithub, openActionStage, actionError, type ActionStage } from './fixtures.js';

const MINUTE_MS = 60_000;

let stage: ActionStage;
let github: GithubPullRequest;

beforeEach(async () => {
  stage = await openActionStage();
  ({ github } = stage.one);
  Object.assign(github, { author: 'dependabot' });
  await stage.refresh();
});
afterEach(() => stage.close());

const codesOf = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.map((result) =>
    result.status === 'fulfilled' ? 'done' : (result.reason as { details?: { code: string } }).details?.code,
  );

/** Makes the forge perform a request, but not respond to it. */
function loseResponse(path: RegExp, done: () => void): void {
  stage.github.failNext(() => (done(), 'reset'), { path });
}

describe('an action is sent once', () => {
  const clicks = (dashboards: readonly Dashboard[], action: ActionName) =>
    Promise.allSettled(dashboards.map((dashboard) => stage.act(onGithub, action, dashboard)));

  test.each<ActionName>(['merge', 'close', 'dependabot_rebase'])(
    'for concurrent requests to several processes: %s',
    async (action) => {
      const other = stage.openProcess();
      const codes = codesOf(await clicks([stage.dashboard, stage.dashboard, other, other], action));
      expect(codes.filter((code) => code === 'done')).toHaveLength(1);
      for (const code of codes) expect(['done', 'in_progress', 'already_merged', 'already_closed']).toContain(code);
      expect(stage.writes()).toHaveLength(1);
    },
  );

  test('for a second request while the forge is slow', async () => {
    let respond: (() => void) | undefined;
    const slow = new Promise<{ body: object }>((resolve) => (respond = () => resolve({ body: { merged: true } })));
    stage.github.failNext(() => slow, { path: /merge$/ });
    const first = stage.act(onGithub, 'merge');
    while (stage.writes().length === 0) await new Promise(setImmediate);
    await expect(stage.act(onGithub, 'merge', stage.openProcess())).rejects.toMatchObject(actionError('in_progress'));
    // Other actions on the pull request are independent.
    await expect(stage.act(onGithub, 'update_branch')).rejects.toMatchObject(actionError('already_up_to_date'));
    respond?.();
    expect(await first).toBe('done');
  });

  test('while a bot has not processed a comment yet', async () => {
    await stage.act(onGithub, 'dependabot_rebase');
    await expect(stage.act(onGithub, 'dependabot_rebase')).rejects.toMatchObject(actionError('in_progress'));
    expect(await stage.act(onGithub, 'dependabot_recreate')).toBe('done');
    stage.wait(11 * MINUTE_MS);
    expect(await stage.act(onGithub, 'dependabot_rebase')).toBe('done');
    expect(github.comments).toHaveLength(3);
  });

  test('but can be sent again after a rejection', async () => {
    stage.github.failNext({ status: 403, body: {} }, { path: /comments$/ });
    await expect(stage.act(onGithub, 'dependabot_rebase')).rejects.toMatchObject(
      actionError('permission', 'forbidden'),
    );
    expect(await stage.act(onGithub, 'dependabot_rebase')).toBe('done');
  });

  test('but can be sent again if the forge was unreachable before it was sent', async () => {
    stage.github.failNext('reset' as never, { path: /graphql$/ });
    await expect(stage.act(onGithub, 'dependabot_rebase')).rejects.toMatchObject(actionError('unknown', 'bad_gateway'));
    expect(await stage.act(onGithub, 'dependabot_rebase')).toBe('done');
    expect(github.comments).toHaveLength(1);
  });
});

describe('after a lost response, the state at the forge is checked first', () => {
  const lost = actionError('unknown', 'bad_gateway');

  test.each<[ActionName, RegExp, Partial<GithubPullRequest>, Partial<GithubPullRequest>]>([
    ['merge', /merge$/, {}, { state: 'MERGED' }],
    ['close', /pulls\/1$/, {}, { state: 'CLOSED' }],
    ['update_branch', /update-branch$/, { author: 'mona', mergeStateStatus: 'BEHIND' }, { mergeStateStatus: 'CLEAN' }],
    [
      'rerun_checks',
      /rerun/,
      { checks: [githubRun({ conclusion: 'FAILURE' })] },
      { checks: [githubRun({ status: 'QUEUED' })] },
    ],
    ['dependabot_rebase', /comments$/, {}, { headRefOid: 'e'.repeat(40) }],
  ])('%s was performed', async (action, path, before, after) => {
    Object.assign(github, before);
    await stage.refresh();
    loseResponse(path, () => Object.assign(github, after));
    await expect(stage.act(onGithub, action)).rejects.toMatchObject(lost);
    expect(await again(action)).toBe('done');
    expect(stage.writes()).toHaveLength(1);
  });

  test.each<[ActionName, RegExp, Partial<GithubPullRequest>]>([
    ['merge', /merge$/, {}],
    ['update_branch', /update-branch$/, { author: 'mona', mergeStateStatus: 'BEHIND' }],
  ])('%s was not performed, and is sent again', async (action, path, before) => {
    Object.assign(github, before);
    await stage.refresh();
    loseResponse(path, () => undefined);
    await expect(stage.act(onGithub, action)).rejects.toMatchObject(lost);
    expect(['done', 'queued']).toContain(await again(action));
    expect(stage.writes()).toHaveLength(2);
  });

  test('a comment is not repeated before the bot must have processed it', async () => {
    loseResponse(/comments$/, () => undefined);
    await expect(stage.act(onGithub, 'dependabot_rebase')).rejects.toMatchObject(lost);
    await expect(again('dependabot_rebase')).rejects.toMatchObject(actionError('unknown'));
    expect(stage.writes()).toHaveLength(1);
    stage.wait(10 * MINUTE_MS);
    expect(await again('dependabot_rebase')).toBe('done');
    expect(stage.writes()).toHaveLength(2);
  });

  test('the time for the bot begins anew with a comment that was sent again and lost again', async () => {
    loseResponse(/comments$/, () => undefined);
    await expect(stage.act(onGithub, 'dependabot_rebase')).rejects.toMatchObject(lost);
    stage.wait(10 * MINUTE_MS);
    loseResponse(/comments$/, () => undefined);
    await expect(again('dependabot_rebase')).rejects.toMatchObject(lost);
    stage.wait(9 * MINUTE_MS);
    await expect(again('dependabot_rebase')).rejects.toMatchObject(actionError('unknown'));
    expect(stage.writes()).toHaveLength(2);
  });

  /**
   * Ends the first process and removes its board, which may already block the action for a different reason, before a
   * second process tries again.
   */
  async function again(action: ActionName) {
    const { dashboard, database, ada } = stage;
    await dashboard.refresher.close();
    await database.deleteFrom('boards').where('person_id', '=', ada.personId).execute();
    return stage.act(onGithub, action, stage.openProcess());
  }
});

describe('an attempt', () => {
  const address = () => ({ ...onGithub, personId: stage.ada.personId });

  test('of a crashed process is found when its lease expires', async () => {
    let at = 0;
    const attempts = createAttempts(stage.database, () => at);
    await attempts.begin(address(), 'merge', 'abc');
    at = MINUTE_MS - 1;
    await expect(attempts.begin(address(), 'merge', 'abd')).rejects.toMatchObject(actionError('in_progress'));
    at = MINUTE_MS;
    const next = await attempts.begin(address(), 'merge', 'abd');
    expect(next.unconfirmed).toEqual({ headSha: 'abc', startedAt: 0 });
    await next.complete();
    expect((await attempts.begin(address(), 'merge', 'abd')).unconfirmed).toBeUndefined();
  });

  test('can be begun by only one of several processes', async () => {
    const place = await createDatabaseTarget();
    const replicas = [await openDatabase(place), await openDatabase(place)];
    const { id: personId } = await createUserStore(replicas[0]!).add({ username: 'ada', displayName: 'Ada' });
    const begin = (database: (typeof replicas)[number]) =>
      createAttempts(database).begin({ ...onGithub, personId }, 'merge', undefined);
    const codes = codesOf(await Promise.allSettled([...replicas, ...replicas].map(begin)));
    expect(codes.sort()).toEqual(['done', 'in_progress', 'in_progress', 'in_progress']);
    await Promise.all(replicas.map((replica) => replica.destroy()));
  });

  test('is deleted a day after it was left unconfirmed', async () => {
    const attempts = createAttempts(stage.database, () => 0);
    await (await attempts.begin(address(), 'merge', undefined)).leaveUnconfirmed();
    const count = async () => (await stage.database.selectFrom('action_attempts').selectAll().execute()).length;
    await deleteExpiredAttempts(stage.database, 86_399_999);
    expect(await count()).toBe(1);
    await deleteExpiredAttempts(stage.database, 86_400_000);
    expect(await count()).toBe(0);
  });
});
