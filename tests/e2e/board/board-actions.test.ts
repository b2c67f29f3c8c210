import type { Page } from 'playwright-core';
import { forgejoPullRequest } from '../../forges/forgejo-state.js';
import { githubPullRequest, githubRun } from '../../forges/github-state.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import {
  createBoardActions,
  eventuallyEquals,
  openBoardFixture,
  type BoardActions,
  type BoardFixture,
} from './board-fixture.js';
import type { BoardForges } from './board-forges.js';

const failing = (databaseId: number) => githubRun({ databaseId, workflowRun: databaseId, conclusion: 'FAILURE' });

/** Adds the pull requests that the tested actions need. */
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
  // Low enough for a warning, but not exceeded.
  github.budgets.graphql.remaining = 900;
}

describeInBrowser('pull request actions', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  const github = () => stage.forges.github;
  const pullRequest = (number: number) => github().repositories[0]!.pullRequests.find((one) => one.number === number)!;

  beforeAll(async () => {
    stage = await openBoardFixture(fill);
    ({ page, at } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  test.each([
    ['Wait for tests', 'Merge when ready #11', 'will be merged when it is ready'],
    ['Mind the gap', 'Merge when ready #2', 'will be merged when it is ready'],
    ['Mind the gap', 'Cancel auto-merge #2', 'is no longer set to auto-merge'],
  ])('%s: %s, at once', async (title, action, outcome) => {
    await (await at.button(title, action)).click();
    await at.said(outcome);
  });

  test.each([
    ['Keep sessions', 'Update branch #3', 'Update #3?', 'is being updated'],
    ['Fail twice', 'Rerun checks #12', 'Rerun checks of #12?', 'is rerunning its failed checks'],
    ['Bump lodash', 'Dependabot: recreate #5', 'Ask Dependabot to recreate #5?', 'will be recreated by Dependabot'],
    ['Bump express', 'Renovate: rebase #10', 'Ask Renovate to rebase #10?', 'will be rebased by Renovate'],
    ['Drop an old flag', 'Close #7', 'Close #7?', 'was closed'],
  ])('%s: %s', async (title, action, question, outcome) => {
    await at.confirm(await at.button(title, action), question);
    await at.said(outcome);
  });

  test('all actions reached their forges', () => {
    expect(pullRequest(11).autoMerge).not.toBeNull();
    expect(pullRequest(3).headRefOid).toBe('f'.repeat(40));
    expect(pullRequest(12).checks[0]).toMatchObject({ status: 'QUEUED' });
    expect(pullRequest(5).comments).toEqual(['@dependabot recreate']);
    expect(pullRequest(10).labels.map(({ name }) => name)).toEqual(['rebase']);
    expect(pullRequest(7).state).toBe('CLOSED');
  });

  test('an undo of a bulk action that fails for one pull request is made for the others', async () => {
    await (await at.button('Mind the gap', 'Merge when ready #2')).click();
    await at.said('mona/tools #2 will be merged');
    // The row of the menu waits behind the updates bar.
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    for (const title of ['Wait for tests', 'Mind the gap'])
      await at
        .row(title)
        .getByLabel(/^Select #/)
        .check();
    const bulk = page.getByRole('region', { name: 'Selected pull requests' });
    await bulk.getByRole('button', { name: 'Cancel auto-merge (2)' }).click();
    await at.said('Cancel auto-merge: 2 of 2 done.');
    const sent = stage.requests.length;
    // The first of the two.
    github().failNext(
      ({ body }) =>
        body.includes('enablePullRequestAutoMerge')
          ? { status: 403, body: { message: 'Must have admin rights' } }
          : undefined,
      { times: Infinity },
    );
    await page.getByRole('button', { name: 'Undo' }).click();
    await page
      .getByRole('alert')
      .getByText(/^Undo failed for acme\/shop #11\. .*Must have admin rights/)
      .waitFor();
    const undone = stage.requests.slice(sent).filter((request) => /^POST\n\S+\/auto-merge\n/.test(request));
    expect(undone.map((request) => /"number":\d+/.exec(request)?.[0])).toEqual(['"number":11', '"number":2']);
    expect(stage.takeComplaints()).toEqual(['403 POST /api/pull-requests/auto-merge']);
  });

  test('a low API quota is reported before it is exceeded', async () => {
    await page
      .getByRole('status')
      .getByText(/^GitHub has \d+ of 5,000 GraphQL requests left until /)
      .waitFor();
  });

  test('an action without a response from the forge shows an error in its row and can be retried', async () => {
    let isAway = true;
    github().failNext(() => (isAway ? { status: 502, body: {} } : undefined), { times: Infinity, path: /\/8\/merge$/ });
    await at.confirm(await at.button('Try one more thing', 'Merge #8'), 'Merge #8?');
    const again = at.row('Try one more thing').getByRole('button', { name: 'Try again #8' });
    await again.waitFor();
    isAway = false;
    await at.confirm(again, 'Merge #8?');
    await at.said('acme/shop #8 was merged.');
    await at.row('Try one more thing').waitFor({ state: 'detached' });
    expect(stage.takeComplaints().every((complaint) => complaint === '502 POST /api/pull-requests/merge')).toBe(true);
  });

  test('an action that the forge rejects shows an error in its row without a retry', async () => {
    pullRequest(2).state = 'CLOSED';
    await at.confirm(await at.button('Round taxes', 'Merge #2'), 'Merge #2?');
    const dismiss = at.row('Round taxes').getByRole('button', { name: 'Dismiss the message about #2' });
    await dismiss.waitFor();
    expect(await at.row('Round taxes').getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await dismiss.click();
    await dismiss.waitFor({ state: 'detached' });
    expect(stage.takeComplaints()).toEqual(['409 POST /api/pull-requests/merge']);
  });

  test('a bulk action closes the selected pull requests and keeps those that fail selected', async () => {
    await page.getByLabel('Search pull requests').fill('wait');
    await at.shown(1);
    await page.getByRole('button', { name: 'Select all 1' }).click();
    await page.getByLabel('Search pull requests').fill('');
    await page.getByLabel('Select #6,').check();
    const bulk = page.getByRole('region', { name: 'Selected pull requests' });
    await bulk.getByText('2 selected').waitFor();
    await expectAccessible(page);
    github().failNext({ status: 403, body: { message: 'Must have admin rights' } }, { times: 9, path: /\/pulls\/11$/ });
    await at.confirm(bulk.getByRole('button', { name: 'Close (2)' }), 'Close 2 pull requests?');
    await at.said('Close: 1 of 2 done.');
    await page.getByRole('alert').getByText('acme/shop #11: ').waitFor();
    await bulk.getByText('1 selected').waitFor();
    await bulk.getByRole('button', { name: 'Clear selection' }).click();
    await bulk.waitFor({ state: 'detached' });
    expect([pullRequest(6).state, pullRequest(11).state]).toEqual(['CLOSED', 'OPEN']);
    expect(stage.takeComplaints()).toEqual(['403 POST /api/pull-requests/close']);
  });

  test('the activity survives navigation and reloads until it is cleared', async () => {
    await page.getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    await page.reload();
    await page.getByText('Activity', { exact: true }).click();
    const activity = page.getByRole('region', { name: 'Activity in this browser' });
    await activity.getByText('Close: 1 of 2 done.').waitFor();
    expect((await activity.getByRole('listitem').allTextContents())[0]).toContain('Close: 1 of 2 done.');
    expect(await activity.getByRole('listitem').filter({ hasText: 'Failed: acme/shop #11' }).count()).toBe(1);
    await expectAccessible(page);
    await activity.getByRole('button', { name: 'Clear' }).click();
    await activity.getByText('No activity in this browser yet.').waitFor();
    await page.keyboard.press('Escape');
    await activity.waitFor({ state: 'detached' });
  });

  test.each([1, -2])('a snooze until tomorrow ends there at 7:00 while the clock is wrong by %i days', async (days) => {
    const timezone = async (zone: string): Promise<void> => {
      const response = await page.request.put(`${stage.server.origin}/api/settings/timezone`, {
        data: { timezone: zone },
        headers: { Origin: stage.server.origin },
      });
      expect(response.status()).toBe(200);
    };
    await timezone('Asia/Tokyo');
    const other = await stage.context.newPage();
    await other.clock.install({ time: Date.now() + days * 86_400_000 });
    const there = createBoardActions(other, stage.server.origin);
    // The page compares the clocks at its first response.
    const compared = other.waitForResponse(/\/api\//);
    await there.open('/', 'Pull requests');
    await compared;
    const snooze = other.waitForRequest(/\/api\/pull-requests\/snooze$/);
    await (await there.button('Show the way', 'Snooze until tomorrow')).click();
    await there.said('is snoozed until tomorrow');
    const { until } = (await snooze).postDataJSON() as { readonly until: string };
    const tomorrow = new Date(Date.now() + (9 + 24) * 3_600_000).toISOString().slice(0, 10);
    expect(new Date(until).toISOString()).toBe(new Date(`${tomorrow}T07:00+09:00`).toISOString());
    await other.getByRole('button', { name: 'Undo' }).click();
    await there.said('is no longer snoozed');
    await other.close();
    await timezone('');
  });

  test('an exceeded rate limit disables the actions of the forge and counts down to its reset', async () => {
    const other = await stage.context.newPage();
    const there = createBoardActions(other, stage.server.origin);
    await other.clock.install();
    await there.open('/', 'Pull requests');
    github().budgets.core.remaining = 0;
    await there.confirm(await there.button('Send receipts', 'Merge #1'), 'Merge #1?');
    const outcome = there.row('Send receipts').locator('.outcome');
    await outcome.getByText(/^GitHub’s rate limit is exceeded. Requests resume at \d/).waitFor();
    await outcome.getByText(/^\d+ min \d+ s$/).waitFor();
    const merge = there.row('Send receipts').getByRole('button', { name: 'Merge #1' });
    await eventuallyEquals(() => merge.getAttribute('aria-disabled'), 'true');
    const reason = other.locator(`#${await merge.getAttribute('aria-describedby')}`);
    expect(await reason.textContent()).toMatch(/^GitHub’s rate limit is exceeded. Requests resume at \d/);
    expect(await merge.evaluate((button: HTMLElement) => button.tabIndex)).toBe(0);
    const saw = there.row('Sharpen the saw').getByRole('button', { name: 'Merge #1' });
    expect(await saw.getAttribute('aria-disabled')).toBe('false');
    await expectAccessible(other);
    await other.clock.fastForward(31 * 60_000);
    await eventuallyEquals(() => merge.getAttribute('aria-disabled'), 'false');
    expect([...new Set(stage.takeComplaints())]).toEqual(['429 POST /api/pull-requests/merge']);
    await other.close();
  });
});
