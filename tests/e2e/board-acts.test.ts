import type { Page } from 'playwright-core';
import { forgejoPullRequest } from '../forges/forgejo-state.js';
import { githubPullRequest, githubRun } from '../forges/github-state.js';
import { expectAccessible } from './axe.js';
import type { BoardForges } from './board-forges.js';
import { boardPage, eventually, openBoardStage } from './board-stage.js';
import type { BoardPage, BoardStage } from './board-stage.js';
import { describeInBrowser } from './chromium.js';

const failing = (databaseId: number) => githubRun({ databaseId, workflowRun: databaseId, conclusion: 'FAILURE' });

/** What the actions are about that the forges of every board do not have. */
function fill({ github, forgejo }: BoardForges): void {
  github.repositories[0]!.pullRequests.push(
    githubPullRequest(10, { title: 'Bump express', author: 'renovate', labels: [], mergeStateStatus: 'BEHIND' }),
    githubPullRequest(11, {
      title: 'Wait for tests',
      mergeStateStatus: 'BLOCKED',
      checks: [githubRun({ databaseId: 9, status: 'IN_PROGRESS', conclusion: null })],
    }),
    githubPullRequest(12, { title: 'Fail twice', checks: [failing(12)] }),
  );
  forgejo.repositories[0]!.pullRequests.push(forgejoPullRequest(2, { title: 'Mind the gap', status: 'pending' }));
  // Told about, and no more than that yet.
  github.budgets.graphql.remaining = 900;
}

describeInBrowser('what is done on the board', () => {
  let stage: BoardStage;
  let page: Page;
  let at: BoardPage;
  const github = () => stage.forges.github;
  const pullRequest = (number: number) => github().repositories[0]!.pullRequests.find((one) => one.number === number)!;

  beforeAll(async () => {
    stage = await openBoardStage(fill);
    ({ page, at } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test.each([
    ['Wait for tests', 'Merge when ready #11', 'Merge by itself?', 'is merged once it can be'],
    ['Mind the gap', 'Merge when ready #2', 'Merge by itself?', 'is merged once it can be'],
    ['Mind the gap', 'Cancel auto-merge #2', 'Really cancel?', 'is not merged by itself any more'],
    ['Keep sessions', 'Update branch #3', 'Really update?', 'is being brought up to date'],
    ['Fail twice', 'Run checks again #12', 'Really run?', 'has its failed checks run again'],
    ['Bump lodash', 'Dependabot: recreate #5', 'Really ask it?', 'is to be made anew by Dependabot'],
    ['Bump express', 'Renovate: rebase #10', 'Really ask it?', 'is to be rebased by Renovate'],
    ['Drop an old flag', 'Close #7', 'Really close?', 'is closed'],
  ])('%s: %s', async (title, action, question, outcome) => {
    await at.confirm(await at.button(title, action), question);
    await at.said(outcome);
  });

  test('every one of them reached its forge', () => {
    expect(pullRequest(11).autoMerge).not.toBeNull();
    expect(pullRequest(3).headRefOid).toBe('f'.repeat(40));
    expect(pullRequest(12).checks[0]).toMatchObject({ status: 'QUEUED' });
    expect(pullRequest(5).comments).toEqual(['@dependabot recreate']);
    expect(pullRequest(10).labels.map(({ name }) => name)).toEqual(['rebase']);
    expect(pullRequest(7).state).toBe('CLOSED');
  });

  test('a forge whose budget goes down is told of before it ends', async () => {
    await page
      .getByRole('status')
      .getByText(/^GitHub has \d+ of 5,000 GraphQL requests left until /)
      .waitFor();
  });

  test('what a forge did not answer is told on its row, and can be tried again', async () => {
    let isAway = true;
    github().failNext(() => (isAway ? { status: 502, body: {} } : undefined), { times: Infinity, path: /\/8\/merge$/ });
    await at.confirm(await at.button('Try one more thing', 'Merge #8'), 'Really merge?');
    const again = at.row('Try one more thing').getByRole('button', { name: 'Try again #8' });
    await again.waitFor();
    isAway = false;
    await at.confirm(again, 'Really merge?');
    await at.said('acme/shop #8 is merged.');
    await at.row('Try one more thing').waitFor({ state: 'detached' });
    expect(stage.takeComplaints().every((told) => told === '502 POST /api/pull-requests/merge')).toBe(true);
  });

  test('what a forge refuses is told on its row, without a second try', async () => {
    pullRequest(2).state = 'CLOSED';
    await at.confirm(await at.button('Round taxes', 'Merge #2'), 'Really merge?');
    const dismiss = at.row('Round taxes').getByRole('button', { name: 'Dismiss the message of #2' });
    await dismiss.waitFor();
    expect(await at.row('Round taxes').getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await dismiss.click();
    await dismiss.waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual(['409 POST /api/pull-requests/merge']);
  });

  test('all that are listed are chosen, closed where that is possible, and the rest told of', async () => {
    await page.getByLabel('Search titles').fill('wait');
    await at.shown(1);
    await page.getByRole('button', { name: 'Choose all 1' }).click();
    await page.getByLabel('Search titles').fill('');
    await page.getByLabel('Choose #6,').check();
    const bulk = page.getByRole('region', { name: 'Chosen pull requests' });
    await bulk.getByText('2 chosen').waitFor();
    await expectAccessible(page);
    github().failNext({ status: 403, body: { message: 'Must have admin rights' } }, { times: 9, path: /\/pulls\/11$/ });
    await at.confirm(bulk.getByRole('button', { name: 'Close (2)' }), 'Really, all 2?');
    await at.said('Close: 1 of 2 done.');
    await page.getByRole('alert').getByText('acme/shop #11: ').waitFor();
    await bulk.waitFor({ state: 'detached' });
    expect([pullRequest(6).state, pullRequest(11).state]).toEqual(['CLOSED', 'OPEN']);
    expect(stage.takeComplaints()).toEqual(['403 POST /api/pull-requests/close']);
  });

  test('what was done stays in the activity, over navigation and loading, until it is cleared', async () => {
    await page.getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    await page.reload();
    await page.getByText('Activity', { exact: true }).click();
    const deeds = page.getByRole('region', { name: 'What was done in this browser' });
    await deeds.getByText('Close: 1 of 2 done.').waitFor();
    expect((await deeds.getByRole('listitem').allTextContents())[0]).toContain('Close: 1 of 2 done.');
    expect(await deeds.getByRole('listitem').filter({ hasText: 'Failed: acme/shop #11' }).count()).toBe(1);
    await expectAccessible(page);
    await deeds.getByRole('button', { name: 'Clear' }).click();
    await deeds.getByText('Nothing was done in this browser yet.').waitFor();
    await page.keyboard.press('Escape');
    await deeds.waitFor({ state: 'detached' });
  });

  test('a forge that takes no more locks its buttons, says until when, and counts down', async () => {
    const other = await stage.context.newPage();
    const there = boardPage(other, stage.server.origin);
    await other.clock.install();
    await there.open('/', 'Pull requests');
    github().budgets.core.remaining = 0;
    await there.confirm(await there.button('Send receipts', 'Merge #1'), 'Really merge?');
    const outcome = there.row('Send receipts').locator('.outcome');
    await outcome.getByText(/^GitHub takes no more requests until \d/).waitFor();
    await outcome.getByText(/^\d+ min \d+ s$/).waitFor();
    const merge = there.row('Send receipts').getByRole('button', { name: 'Merge #1' });
    await eventually(() => merge.getAttribute('aria-disabled'), 'true');
    const reason = other.locator(`#${await merge.getAttribute('aria-describedby')}`);
    expect(await reason.textContent()).toMatch(/^GitHub takes no more requests until \d/);
    expect(await merge.evaluate((button: HTMLElement) => button.tabIndex)).toBe(0);
    const saw = there.row('Sharpen the saw').getByRole('button', { name: 'Merge #1' });
    expect(await saw.getAttribute('aria-disabled')).toBe('false');
    await expectAccessible(other);
    await other.clock.fastForward(31 * 60_000);
    await eventually(() => merge.getAttribute('aria-disabled'), 'false');
    expect([...new Set(stage.takeComplaints())]).toEqual(['429 POST /api/pull-requests/merge']);
    await other.close();
  });
});
