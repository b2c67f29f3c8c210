import { setTimeout as sleep } from 'node:timers/promises';
import type { Board } from '../../../src/dashboard/boards/board.js';
import { saveState } from '../../../src/dashboard/pull-requests/state-entries.js';
import { composeBoard } from '../../../src/dashboard/refresh/compose-board.js';
import { createScheduler } from '../../../src/dashboard/refresh/schedule.js';
import { forgejoPullRequest, forgejoRepository } from '../../forges/forgejo-state.js';
import { githubIssue, githubPullRequest, githubRepository, type GithubRun } from '../../forges/github-state.js';
import { gitlabMergeRequest, gitlabProject } from '../../forges/gitlab-state.js';
import { openStage, type Stage } from './fixtures.js';

const INTERVAL_MS = 20 * 60_000;

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({ refreshMs: INTERVAL_MS });
  const { github, forgejo, gitlab } = stage;
  const pullRequests = [githubPullRequest(1), githubPullRequest(2)];
  github.repositories.push(githubRepository('acme/shop', { pullRequests, issues: [githubIssue(3)] }));
  forgejo.repositories.push(forgejoRepository('acme/depot', { pullRequests: [forgejoPullRequest(4)] }));
  gitlab.projects.push(gitlabProject('acme/till', { mergeRequests: [gitlabMergeRequest(5)] }));
});
afterEach(async () => {
  await stage.close();
  expect(stage.reported).toEqual([]);
});

const rowsOf = ({ pullRequests }: Board): string[] =>
  pullRequests.map(({ forge, repo, number }) => `${forge} ${repo}#${number}`).sort();

const ALL = ['forgejo acme/depot#4', 'github acme/shop#1', 'github acme/shop#2', 'gitlab acme/till#5'];
const shop = () => stage.github.repositories[0]!;

/** Counts the requests to each forge during the work. */
async function requestsOf(work: () => Promise<unknown>): Promise<Record<'forgejo' | 'github' | 'gitlab', number>> {
  const count = () => [stage.github, stage.forgejo, stage.gitlab].map(({ seen }) => seen.length);
  const before = count();
  await work();
  const [github = 0, forgejo = 0, gitlab = 0] = count().map((many, index) => many - (before[index] ?? 0));
  return { github, forgejo, gitlab };
}

/** A first reading searches for the user's pull requests and reads them before it lists the repositories. */
const FIRST_SEARCH = 4 + 1;

/** Runs due refreshes, as a server does every second. */
async function look(): Promise<void> {
  const { refresher } = stage.openProcess();
  await refresher.start();
  await refresher.close();
}

const readRepository = () =>
  stage.dashboard.refresher.refreshRepository(stage.ada.personId, 'github', shop().nameWithOwner);

test('refresh: reads all forges into one board', async () => {
  const board = await stage.refresh();
  expect(rowsOf(board)).toEqual(ALL);
  expect(board.issues.map(({ number }) => number)).toEqual([3]);
  expect(board.repos.map(({ fullName }) => fullName)).toEqual(['acme/shop', 'acme/depot', 'acme/till']);
  expect(board.forges).toMatchObject([
    { forge: 'github', reachable: true, repoCount: 1, truncated: false, rateLimitGraphQL: { limit: 5000 } },
    { forge: 'forgejo', reachable: true, repoCount: 1, truncated: false },
    { forge: 'gitlab', reachable: true, repoCount: 1, truncated: false },
  ]);
});

test('refresh: reads changed repositories, and the least recently read ones', async () => {
  const others = Array.from({ length: 8 }, (_none, index) => gitlabProject(`acme/p${index}`, { id: 100 + index }));
  for (const other of others) other.mergeRequests.push(gitlabMergeRequest(1));
  stage.gitlab.projects.push(...others);
  // A third of the six hours in which every repository is read.
  const { refresher } = stage.openProcess({ refreshMs: 2 * 3_600_000 });
  const refresh = () => refresher.refresh(stage.ada.personId);
  await refresh();
  const [first, second] = [others[6]!.mergeRequests[0]!, others[7]!.mergeRequests[0]!];
  Object.assign(first, { title: 'Newer', updatedAt: '2026-05-09T08:00:00Z' });
  // A pipeline alone does not change the update time.
  second.pipeline = 'FAILED';
  // One request to list them, one for the changed repository, those for a third of all nine, and four searches.
  expect((await requestsOf(refresh)).gitlab).toBe(1 + 1 + 3 + 4);
  const { pullRequests } = await stage.board();
  expect(pullRequests.map(({ title }) => title)).toContain('Newer');
  await refresh();
  await refresh();
  const row = (await stage.board()).pullRequests.find(({ repo }) => repo === 'acme/p7');
  expect(row?.ci).toBe('failure');
});

test('refresh: removes merged and closed pull requests', async () => {
  await stage.refresh();
  shop().pullRequests[0]!.state = 'MERGED';
  stage.forgejo.repositories[0]!.pullRequests[0]!.state = 'closed';
  expect(rowsOf(await stage.refresh())).toEqual(['github acme/shop#2', 'gitlab acme/till#5']);
});

test('refresh: reuses the snapshots of other processes', async () => {
  await stage.refresh();
  const { github, forgejo } = await requestsOf(() => stage.openProcess().refresher.refresh(stage.ada.personId));
  // Unchanged repositories are read only by their share, which is all of them here. GitHub's four searches are one request.
  expect([github, forgejo]).toEqual([2 + 1, 2 + 4 + 4]);
});

test('refresh: all calls during a run share the next run', async () => {
  const { refresher } = stage.dashboard;
  const { personId } = stage.ada;
  const runs = async () => {
    const one = refresher.refresh(personId);
    const others = [refresher.refresh(personId), refresher.refresh(personId), refresher.refresh(personId)];
    await one;
    shop().pullRequests.push(githubPullRequest(7));
    await Promise.all(others);
  };
  const { gitlab } = await requestsOf(runs);
  expect(gitlab).toBe(FIRST_SEARCH + 2 * (1 + 1 + 4));
  expect(rowsOf(await stage.board())).toContain('github acme/shop#7');
});

test('refresh: one process reads at a time, and a run that starts after all calls serves them all', async () => {
  const [first, ...others] = [stage.dashboard, stage.openProcess(), stage.openProcess()].map(
    ({ refresher }) => refresher,
  );
  const { personId } = stage.ada;
  const waiting: Promise<void>[] = [];
  let readers = 0;
  let most = 0;
  stage.gitlab.beforeSending = async () => {
    if (waiting.length === 0) waiting.push(...others.map((other) => other.refresh(personId)));
    readers += 1;
    most = Math.max(most, readers);
    await sleep(50);
    readers -= 1;
  };
  const { gitlab } = await requestsOf(async () => {
    await first!.refresh(personId);
    await Promise.all(waiting);
  });
  expect([gitlab, most]).toEqual([FIRST_SEARCH + 2 * (1 + 1 + 4), 1]);
});

test('refreshRepository: reads only the repository, once for all concurrent calls', async () => {
  await stage.refresh();
  shop().pullRequests[0]!.title = 'Newer';
  const requests = await requestsOf(() => Promise.all([readRepository(), readRepository(), readRepository()]));
  expect(requests).toEqual({ github: 2, forgejo: 0, gitlab: 0 });
  expect((await stage.board()).pullRequests.map(({ title }) => title)).toContain('Newer');
});

test('refreshRepository: keeps the board version if nothing changed', async () => {
  const { generatedAt } = await stage.refresh();
  await readRepository();
  expect((await stage.board()).generatedAt).toBe(generatedAt);
});

test('refresh: does not overwrite a newer snapshot of a repository', async () => {
  await stage.refresh();
  shop().pullRequests[0]!.updatedAt = '2026-05-09T08:00:00Z';
  stage.github.beforeSending = async ({ body }) => {
    if (!body.includes('nodes(ids')) return;
    shop().pullRequests[0]!.title = 'Newest';
    // Within the same millisecond, either snapshot may win.
    await sleep(5);
    await readRepository();
  };
  const board = await stage.refresh();
  expect(board.pullRequests.map(({ title }) => title)).toContain('Newest');
});

test('rebuildBoard: an ignored repository has no rows, also after a rename, until it is no longer ignored', async () => {
  const { database, ada, dashboard } = stage;
  await stage.refresh();
  const mark = { person_id: ada.personId, forge: 'github', repo: 'acme/shop', webhook_seen_at: 1 };
  const scope = { ignored_prs: 1, ignored_issues: 0, auto_update_branch: 1 };
  await database
    .insertInto('repository_marks')
    .values({ ...mark, ...scope })
    .execute();
  await dashboard.refresher.rebuildBoard(ada.personId);
  const board = await stage.board();
  expect([rowsOf(board), board.issues.length]).toEqual([ALL.filter((row) => !row.startsWith('github')), 1]);
  const shown = { ignored: true, ignoredPRs: true, ignoredIssues: false, autoUpdateBranch: true, hasWebhook: true };
  expect(board.repos[0]).toMatchObject({ fullName: 'acme/shop', ...shown });
  shop().nameWithOwner = 'acme/Store';
  expect((await stage.refresh()).repos[0]).toMatchObject({ fullName: 'acme/Store', ...shown });
  await database.deleteFrom('repository_marks').execute();
  expect(rowsOf(await stage.refresh()).map((row) => row.replace('acme/Store', 'acme/shop'))).toEqual(ALL);
});

test('rebuildBoard: a pull request merged through Trellis is hidden for a while, and reappears if the forge still lists it', async () => {
  const { database, ada, dashboard } = stage;
  await stage.refresh();
  const address = { personId: ada.personId, forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await saveState(database, address, { kind: 'held', state: {}, expiresAt: Date.now() + 120_000 });
  await dashboard.refresher.rebuildBoard(ada.personId);
  expect(rowsOf(await stage.board())).toEqual(ALL.filter((row) => row !== 'github acme/shop#1'));
  expect(rowsOf(await stage.refresh())).not.toContain('github acme/shop#1');
  stage.wait(121_000);
  await look();
  expect(rowsOf(await stage.board())).toEqual(ALL);
});

test('composeBoard: a hidden pull request reappears exactly when its time ends', async () => {
  const { database, ada, dashboard } = stage;
  await stage.refresh();
  const until = Date.now() + 120_000;
  const address = { personId: ada.personId, forge: 'github', fullName: 'acme/shop', number: 1 } as const;
  await saveState(database, address, { kind: 'held', state: {}, expiresAt: until });
  const settings = await dashboard.settings.findForges(ada.personId);
  const numbersAt = async (at: number) => {
    const composed = await composeBoard(database, ada.personId, { settings: settings!, at });
    return composed?.snapshot.pullRequests.map(({ number }) => number);
  };
  expect(await numbersAt(until - 1)).not.toContain(1);
  expect(await numbersAt(until)).toContain(1);
});

test('rebuildBoard: pending requests are shown on the row', async () => {
  const { database, ada, dashboard } = stage;
  await stage.refresh();
  const address = { personId: ada.personId, forge: 'forgejo', fullName: 'acme/depot', number: 4 } as const;
  const times = { requestedAt: '2026-05-02T08:00:00.000Z', expiresAt: '2046-05-02T08:05:00.000Z' };
  await saveState(database, address, { kind: 'auto_merge', state: { state: 'waiting', message: 'Waits.' } });
  await saveState(database, address, { kind: 'update_request', state: { phase: 'queued', ...times } });
  await dashboard.refresher.rebuildBoard(ada.personId);
  const row = (await stage.board()).pullRequests.find(({ forge }) => forge === 'forgejo');
  expect(row).toMatchObject({ autoMergeEnabled: true, autoMerge: { state: 'waiting' } });
  expect(row).toMatchObject({ updateRequest: { phase: 'queued', ...times } });
  expect(row?.allowedActions.map(({ action }) => action)).toContain('cancel_auto_merge');
});

test("refresh: a first reading shows the user's pull requests before it lists the repositories", async () => {
  const { github, dashboard, ada } = stage;
  shop().pullRequests.push(githubPullRequest(7, { author: 'lisa' }));
  const during: Board[] = [];
  github.beforeSending = async ({ body }) => {
    if (!body.includes('query Discover')) return;
    // The other forges are quick, and their first readings end.
    while (!rowsOf(await stage.board()).includes('github acme/shop#2')) await sleep(5);
    during.push(await stage.board());
  };
  await dashboard.refresher.refresh(ada.personId);
  const [board] = during;
  expect(rowsOf(board!)).toEqual(expect.arrayContaining(['github acme/shop#1', 'github acme/shop#2']));
  expect(rowsOf(board!)).not.toContain('github acme/shop#7');
  const stateOf = ({ forges }: Board) => forges.find(({ forge }) => forge === 'github');
  expect(stateOf(board!)).toMatchObject({ reachable: true, reading: true, repoCount: 0, truncated: false });
  const after = await stage.board();
  expect(rowsOf(after)).toContain('github acme/shop#7');
  expect(stateOf(after)).toMatchObject({ repoCount: 1 });
  expect(after.forges.map((one) => 'reading' in one)).toEqual([false, false, false]);
});

test("refresh: above the limit, the user's pull requests are on the board, whatever their repository", async () => {
  const { github } = stage;
  const many = Array.from({ length: 5_000 }, (_none, index) => githubPullRequest(index + 1, { author: 'lisa' }));
  const rest = Array.from({ length: 45 }, (_none, index) =>
    githubRepository(`acme/p${String(index).padStart(2, '0')}`),
  );
  const [first, last] = [rest[0]!, rest.at(-1)!];
  first.pullRequests.push(...many);
  last.pullRequests.push(githubPullRequest(1), githubPullRequest(2, { author: 'lisa' }));
  github.repositories.splice(0, 1, ...rest);
  for (let times = 0; times < 2; times += 1) {
    const board = await stage.refresh();
    const own = board.pullRequests.filter(({ forge }) => forge === 'github');
    expect(own).toHaveLength(5_000);
    expect(own.filter(({ repo }) => repo === last.nameWithOwner).map(({ number }) => number)).toEqual([1]);
    expect(board.forges).toContainEqual(expect.objectContaining({ forge: 'github', truncated: true, repoCount: 45 }));
    const listed = board.repos.find(({ fullName }) => fullName === last.nameWithOwner);
    expect(listed).not.toHaveProperty('yoursOnly');
  }
});

test('refresh: limits a forge to 5,000 pull requests, reports that, and reads more after some are closed', async () => {
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_none, index) => gitlabMergeRequest(from + index));
  stage.gitlab.projects.length = 0;
  const names = Array.from({ length: 45 }, (_none, index) => `acme/p${String(index).padStart(2, '0')}`);
  stage.gitlab.projects.push(
    ...names.map((name, index) => gitlabProject(name, { id: index + 1, mergeRequests: many(1, 125) })),
  );
  const board = await stage.refresh();
  const gitlab = () => board.forges.find(({ forge }) => forge === 'gitlab');
  expect(gitlab()).toMatchObject({ truncated: true, repoCount: 45 });
  expect(board.pullRequests.filter(({ forge }) => forge === 'gitlab')).toHaveLength(5_000);
  for (const project of stage.gitlab.projects.slice(0, 10)) {
    for (const one of project.mergeRequests) one.state = 'merged';
    project.lastActivityAt = '2026-06-01T08:00:00Z';
  }
  await stage.refresh();
  const after = await stage.refresh();
  expect(after.forges.find(({ forge }) => forge === 'gitlab')).toMatchObject({ truncated: false });
  expect(after.pullRequests.filter(({ forge }) => forge === 'gitlab')).toHaveLength(35 * 125);
});

describe('scheduled refreshes', () => {
  const build = () => shop().pullRequests[0]!.checks[0]! as GithubRun;

  beforeEach(async () => {
    Object.assign(build(), { status: 'IN_PROGRESS', conclusion: null });
    await stage.refresh();
  });

  test('read pending checks when they are due, and not earlier', async () => {
    stage.wait(30_000);
    expect(await requestsOf(look)).toEqual({ github: 0, forgejo: 0, gitlab: 0 });
    stage.wait(31_000);
    Object.assign(build(), { status: 'COMPLETED', conclusion: 'SUCCESS' });
    expect(await requestsOf(look)).toEqual({ github: 1, forgejo: 0, gitlab: 0 });
    expect((await stage.board()).pullRequests.map(({ ci }) => ci)).not.toContain('pending');
    stage.wait(61_000);
    expect(await requestsOf(look)).toEqual({ github: 0, forgejo: 0, gitlab: 0 });
    stage.wait(INTERVAL_MS);
    expect((await requestsOf(look)).gitlab).toBeGreaterThan(0);
  });

  test('read an unknown merge status again, which forges compute after the first request', async () => {
    Object.assign(build(), { status: 'COMPLETED', conclusion: 'SUCCESS' });
    const second = shop().pullRequests[1]!;
    // A push to the head, so that the merge status before it says nothing.
    Object.assign(second, { mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN', headRefOid: 'e'.repeat(40) });
    const statuses = ({ pullRequests }: Board) => pullRequests.map(({ mergeStatus }) => mergeStatus);
    expect(statuses(await stage.refresh())).toContain('unknown');
    Object.assign(second, { mergeable: 'MERGEABLE', mergeStateStatus: 'CLEAN' });
    stage.wait(61_000);
    await look();
    expect(statuses(await stage.board())).not.toContain('unknown');
  });

  test('keep the last merge status of the same commits while the forge computes it again after a push', async () => {
    Object.assign(build(), { status: 'COMPLETED', conclusion: 'SUCCESS' });
    const places = ({ pullRequests }: Board) =>
      pullRequests.filter(({ forge }) => forge === 'github').map((one) => [one.number, one.section, one.mergeStatus]);
    const before = places(await stage.refresh());
    for (const one of shop().pullRequests) Object.assign(one, { mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' });
    stage.wait(60_000);
    expect(places(await stage.refresh())).toEqual(before);
    shop().pullRequests[1]!.headRefOid = 'e'.repeat(40);
    expect(places(await stage.refresh())).not.toEqual(before);
    for (const one of shop().pullRequests) Object.assign(one, { mergeable: 'MERGEABLE', mergeStateStatus: 'CLEAN' });
    stage.wait(5_000);
    expect((await requestsOf(look)).github).toBe(1);
    expect(places(await stage.board())).toEqual(before);
  });

  test('show a merge status that the forge does not compute within five minutes as unknown', async () => {
    Object.assign(build(), { status: 'COMPLETED', conclusion: 'SUCCESS' });
    await stage.refresh();
    const second = shop().pullRequests[1]!;
    Object.assign(second, { mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' });
    await stage.refresh();
    stage.wait(301_000);
    const rows = (await stage.refresh()).pullRequests;
    expect(rows.find(({ forge, number }) => forge === 'github' && number === second.number)).toMatchObject({
      mergeStatus: 'unknown',
    });
  });

  test('read nothing before the next full refresh without a credential', async () => {
    const { dashboard, ada } = stage;
    const saved = (await dashboard.settings.findForges(ada.personId))!;
    const alone = { githubUsername: 'acme', githubToken: null, renovateAuthors: [] };
    await dashboard.settings.save(ada, { ...saved, ...alone });
    const board = await stage.refresh();
    expect(board.pullRequests.filter(({ forge }) => forge === 'github').map(({ ci }) => ci)).toContain('pending');
    stage.wait(INTERVAL_MS - 120_000);
    expect((await requestsOf(look)).github).toBe(0);
  });

  test('read everything again after settings are saved, even during a refresh', async () => {
    const { dashboard, ada, gitlab } = stage;
    const saved = (await dashboard.settings.findForges(ada.personId))!;
    gitlab.beforeSending = async () => {
      delete gitlab.beforeSending;
      await dashboard.settings.save(ada, { ...saved, githubUsername: 'other', renovateAuthors: [] });
    };
    await stage.refresh();
    shop().pullRequests[1]!.title = 'Unseen by any revision';
    await look();
    expect((await stage.board()).pullRequests.map(({ title }) => title)).toContain('Unseen by any revision');
  });

  test('read pending checks less often over time, and save the board only after changes', async () => {
    const { generatedAt } = await stage.board();
    let polls = 0;
    for (let minute = 1; minute < 17; minute += 1) {
      stage.wait(60_001);
      polls += (await requestsOf(look)).github;
    }
    expect(polls).toBeGreaterThan(8);
    expect(polls).toBeLessThan(16);
    expect((await stage.board()).generatedAt).toBe(generatedAt);
  });

  test('wait for the reset of a low API quota', async () => {
    const { graphql } = stage.github.budgets;
    graphql.remaining = 240;
    graphql.reset = Math.ceil(Date.now() / 1000) + 1800;
    await stage.refresh();
    stage.wait(1_700_000);
    expect(await requestsOf(look)).toEqual({ github: 0, forgejo: 0, gitlab: 0 });
    stage.wait(135_000);
    expect((await requestsOf(look)).github).toBeGreaterThan(0);
  });

  test('of a user who was absent for a week wait until the board is six hours old', async () => {
    await stage.database
      .updateTable('settings')
      .set({ saved_at: Date.now() - 8 * 86_400_000 })
      .execute();
    Object.assign(build(), { status: 'COMPLETED', conclusion: 'SUCCESS' });
    await stage.refresh();
    stage.wait(INTERVAL_MS + 1_000);
    expect(await requestsOf(look)).toEqual({ github: 0, forgejo: 0, gitlab: 0 });
    stage.wait(6 * 3_600_000);
    expect((await requestsOf(look)).github).toBeGreaterThan(0);
  });

  test('of a user who returned today are not postponed by the age of their session', async () => {
    const day = 86_400_000;
    const at = Date.now();
    await stage.database
      .updateTable('settings')
      .set({ saved_at: at - 80 * day })
      .execute();
    const times = { created_at: at - 80 * day, expires_at: at + 10 * day, last_used_at: at };
    await stage.database
      .insertInto('sessions')
      .values({ id_hash: 'h', person_id: stage.ada.personId, browser: null, ...times })
      .execute();
    await stage.refresh();
    stage.wait(INTERVAL_MS + 1_000);
    expect((await requestsOf(look)).github).toBeGreaterThan(0);
  });

  test('are taken over from a process that died', async () => {
    const { database } = stage;
    const at = Date.now();
    const died = { lease_holder: 'died', lease_until: at + 120_000, due_at: at, look_at: at };
    await database.updateTable('refresh_schedule').set(died).execute();
    expect((await requestsOf(look)).github).toBe(0);
    stage.wait(120_001);
    expect((await requestsOf(look)).github).toBeGreaterThan(0);
    const { lease_holder } = await database.selectFrom('refresh_schedule').selectAll().executeTakeFirstOrThrow();
    expect(lease_holder).toBeNull();
  });
});

test('refresh: a process that lost its lease saves nothing, and waits for the other process', async () => {
  const { database } = stage;
  await stage.refresh();
  const other = stage.openProcess();
  let isLost = false;
  stage.github.beforeSending = async () => {
    if (isLost) return;
    isLost = true;
    shop().pullRequests.pop();
    await database.updateTable('refresh_schedule').set({ lease_holder: null, lease_until: 0 }).execute();
    await other.refresher.refresh(stage.ada.personId);
    stage.github.failNext({ status: 500, body: {} });
  };
  const board = await stage.refresh();
  expect(rowsOf(board)).not.toContain('github acme/shop#2');
  expect(board.forges[0]).toMatchObject({ forge: 'github', reachable: true });
});

test('the schedule is polled again at once if a board is scheduled during a poll', async () => {
  let polls = 0;
  const stopped = new AbortController();
  const scheduler = createScheduler({
    ...{ database: stage.database, now: Date.now, signal: stopped.signal },
    work: () => Promise.resolve(),
    report: (error) => stage.reported.push(error),
    isNotified() {
      polls += 1;
      // The first poll is that of the start.
      if (polls === 2) scheduler.wake();
      return true;
    },
  });
  await scheduler.start();
  scheduler.wake();
  await sleep(500);
  const counted = polls;
  stopped.abort();
  await scheduler.whenStopped();
  expect(counted).toBe(3);
});
