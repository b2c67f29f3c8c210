import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { FORGEJO_TOKEN } from '../../forges/forgejo.js';
import { githubPullRequest } from '../../forges/github-state.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { expectAccessible } from '../support/axe.js';
import { describeInBrowser } from '../support/chromium.js';
import { openForgeFixture, type ForgeFixture } from '../support/forge-fixture.js';
import { pressAndConfirm, CONFIRM_DELAY_MS, waitForSave } from '../support/page-actions.js';
import { signUpByRequest } from '../support/sign-up.js';
import type { BoardForges } from './board-forges.js';

/** The address that stores the filters of both lists. */
const FILTER_STATE = '**/api/settings/filter-state';

describeInBrowser('the board', () => {
  let forges: BoardForges;
  let stage: ForgeFixture;
  let page: Page;

  beforeAll(async () => {
    stage = await openForgeFixture({ elsewhere: ['https://github.com'] });
    ({ forges, page } = stage);
    await open('/', 'Pull requests');
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const rows = (): Locator => page.locator('.pull');
  const row = (title: string): Locator => rows().filter({ hasText: title });
  /** The titles of the current list. Wait for the expected list first. */
  const titles = (): Promise<string[]> => page.locator('.pull a.open').allTextContents();
  const expectTitles = (wanted: readonly string[]): Promise<void> =>
    eventually(async () => expect(await titles()).toEqual(wanted));
  const shown = (count: number): Promise<void> => page.getByText(new RegExp(`^${count} of \\d+ shown$`)).waitFor();
  const said = (text: string): Promise<void> => page.locator('.toast').filter({ hasText: text }).last().waitFor();
  const open = async (path: string, heading: string): Promise<void> => {
    await page.goto(stage.server.origin + path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  };
  const clear = (): Promise<void> =>
    page
      .getByRole('button', { name: /^Clear (?:all|filters)$/ })
      .first()
      .click();
  async function openFilters(): Promise<void> {
    const closed = page.getByRole('button', { name: /^Filters/, expanded: false });
    if (await closed.isVisible()) await closed.click();
  }
  /** Presses a quick filter, which is among the folded filters. */
  async function pressQuickFilter(name: string): Promise<void> {
    const button = page.getByRole('button', { name, exact: true });
    if (!(await button.isVisible())) await openFilters();
    await button.click();
  }

  const pullRequest = (number: number) =>
    forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!;

  async function countRead(): Promise<number> {
    const response = await page.request.get(`${stage.server.origin}/api/dashboard`);
    return ((await response.json()) as { pullRequests: unknown[] }).pullRequests.length;
  }

  async function fillForge(name: string, url: string, token: string): Promise<void> {
    const form = page.getByRole('group', { name, exact: true });
    await form.getByLabel('URL').fill(url);
    await form.getByLabel('Username').fill('mona');
    await form.getByLabel('Token', { exact: true }).fill(token);
    await form.getByRole('button', { name: `Save ${name}` }).click();
    await said(`${name} settings saved`);
  }

  test('forges that are saved and tested in the settings fill the board', async () => {
    await page.getByText('No code host connected yet.').waitFor();
    // A clock is that of a whole context.
    const context = await stage.enter();
    await context.addCookies(await stage.context.cookies());
    const other = await context.newPage();
    await other.clock.install();
    const streams: string[] = [];
    other.on('request', (request) => {
      if (request.url().includes('/changes')) streams.push(request.url());
    });
    await other.goto(stage.server.origin);
    await other.getByText('No code host connected yet.').waitFor();
    await page.getByRole('link', { name: 'Connect GitHub, GitLab or Forgejo' }).click();
    await fillForge('GitHub', forges.github.url, GITHUB_TOKEN);
    await fillForge('Forgejo or Gitea', forges.forgejo.url, FORGEJO_TOKEN);
    await fillForge('GitLab', forges.gitlab.url, GITLAB_TOKEN);
    await page.getByRole('button', { name: 'Test GitHub' }).click();
    await page
      .getByRole('group', { name: 'GitHub', exact: true })
      .getByText('Connected as mona · 1 repository')
      .waitFor();
    // Rows that are read later would wait behind the updates bar.
    await eventually(async () => expect(await countRead()).toBe(9));
    // A page that was open before reads the board again after a while.
    await eventually(async () => {
      await other.clock.fastForward(10_000);
      expect(await other.locator('.pull').count()).toBe(9);
    });
    await eventually(() => expect(streams.length).toBeGreaterThan(1));
    await context.close();
    await page.getByRole('link', { name: 'Pull requests', exact: true }).click();
    await shown(9);
    await eventually(async () => expect(await rows().count()).toBe(9));
    await page.getByRole('heading', { name: 'Needs your review 1' }).waitFor();
    await eventually(async () => expect(await page.title()).toMatch(/^\(\d+\) Pull requests · Trellis$/));
    await page.locator('link[rel="icon"][href^="data:image/svg+xml,"]').waitFor({ state: 'attached' });
  });

  test.each([
    ['GitHub', 7],
    ['Forgejo', 1],
    ['GitLab', 1],
    ['Failing CI', 1],
    ['Bots', 1],
    ['Review requested', 1],
    ['All', 9],
  ])('the quick filter “%s” leaves %i rows', async (name, count) => {
    await pressQuickFilter(name);
    await page.getByRole('button', { name, exact: true, pressed: true }).waitFor();
    await shown(count);
    await eventually(async () => expect(await rows().count()).toBe(count));
  });

  test.each([
    ['All 9', 9],
    ['Needs your review 1', 1],
    ['Ready to merge 6', 6],
  ])('the tab “%s” lists %i rows', async (name, count) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name, exact: true, pressed: true }).waitFor();
    await eventually(async () => expect(await rows().count()).toBe(count));
    await shown(count);
  });

  test('a section is in the address, and Back leaves it', async () => {
    await page.waitForURL('**/?section=ready_to_merge');
    await page.goBack();
    await page.getByRole('button', { name: 'Needs your review 1', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'All 9', exact: true }).click();
    await page.waitForURL(`${stage.server.origin}/`);
    await shown(9);
  });

  test.each([
    ['Repository', 'mona/tools (Forgejo)', ['Sharpen the saw']],
    ['Author', 'lisa', ['Name the columns']],
    ['Label', 'billing', ['Send receipts as PDF']],
    ['CI', 'Failing', ['Round taxes']],
  ])('the select %s lists the rows with “%s”', async (label, option, found) => {
    await page.getByRole('combobox', { name: label, exact: true }).selectOption(option);
    await shown(1);
    await expectTitles(found);
    await clear();
    await shown(9);
  });

  test('searches, sorts and groups rows, and shows drafts on demand', async () => {
    await page.getByLabel('Search pull requests').fill('try');
    await shown(1);
    await page.getByLabel('Drafts (1 hidden)').check();
    await shown(2);
    await row('Try another search').getByText('draft').waitFor();
    await clear();
    await page.getByLabel('Group by').selectOption('nothing');
    await page.getByLabel('Sort by').selectOption('repository');
    await shown(10);
    await eventually(async () =>
      expect((await titles()).slice(0, 2)).toEqual(['Try one more thing', 'Drop an old flag']),
    );
    await page.getByLabel('Group by').selectOption('code host');
    const groups = page.getByRole('heading', { level: 2 });
    await eventually(async () => expect(await groups.allTextContents()).toEqual(['GitHub 8', 'GitLab 1', 'Forgejo 1']));
    await page.reload();
    await page.getByRole('heading', { name: 'GitHub 8' }).waitFor();
    await page.getByLabel('Group by').selectOption('whose turn it is');
    await page.getByLabel('Sort by').selectOption('last activity');
    await page.getByRole('checkbox', { name: 'Drafts' }).uncheck();
    await shown(9);
  });

  const botsShown = (): Promise<void> => page.getByRole('button', { name: 'Remove filter Show: Bots' }).waitFor();
  /** Waits until the server has the filters of this browser. */
  const filtersSaved = (): Promise<void> =>
    eventually(async () =>
      expect(await page.evaluate(() => localStorage.getItem('trellis-filters-unsent'))).toBeNull(),
    );

  /** Delays the next request that saves filters until the returned function is called. */
  async function holdNextSave(): Promise<() => void> {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(FILTER_STATE, (route) => held.then(() => route.continue()), { times: 1 });
    return release;
  }

  test('of two filter changes the later one is stored, even if the request of the first one is delayed', async () => {
    // Earlier changes must be stored first.
    await filtersSaved();
    const release = await holdNextSave();
    await pressQuickFilter('Bots');
    await shown(1);
    await pressQuickFilter('All');
    await shown(9);
    release();
    await filtersSaved();
    await page.evaluate(() => localStorage.clear());
    await page.goto(stage.server.origin);
    await shown(9);
  });

  test('a filter that is sent while a reload replaces the page is kept', async () => {
    // The filter that the new document would bring back.
    await pressQuickFilter('GitHub');
    await shown(7);
    await filtersSaved();
    const release = await holdNextSave();
    let onHandled = (): void => undefined;
    const handled = new Promise<void>((resolve) => (onHandled = resolve));
    await page.exposeFunction('onSaveHandled', () => onHandled());
    await page.evaluate(() => {
      new PerformanceObserver((list) => {
        const isSave = list.getEntries().some(({ name }) => name.endsWith('/filter-state'));
        // A later task: the page has handled the response by then.
        if (isSave) setTimeout((window as unknown as { onSaveHandled: () => void }).onSaveHandled);
      }).observe({ type: 'resource' });
    });
    const address = `${stage.server.origin}/`;
    await page.route(address, async (route) => {
      // The document with the filter from before the request replaces the page only after the response.
      const response = await route.fetch();
      release();
      await handled;
      await route.fulfill({ response });
    });
    await pressQuickFilter('Bots');
    await shown(1);
    await page.goto(address);
    await page.unroute(address);
    await botsShown();
    await shown(1);
    await filtersSaved();
    await page.evaluate(() => localStorage.clear());
    await page.goto(address);
    await botsShown();
    await pressQuickFilter('All');
    await shown(9);
  });

  test('the board loads at most 60 kB of compressed scripts, without layout shifts', async () => {
    const other = await stage.context.newPage();
    await other.addInitScript(`new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) window.shift = (window.shift ?? 0) + value;
    }).observe({ type: 'layout-shift', buffered: true })`);
    await other.goto(stage.server.origin);
    await other.locator('.pull').first().waitFor();
    const bytes = await other.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.endsWith('.js'))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    );
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(60_000);
    expect(await other.evaluate<number>('window.shift ?? 0')).toBeLessThanOrEqual(0.02);
    await other.close();
  });

  test('a newly opened board requests only its stream; the document embeds the rest and is revalidated', async () => {
    const other = await stage.context.newPage();
    const requested: string[] = [];
    other.on('request', (request) => requested.push(new URL(request.url()).pathname));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await other.route('**/api/dashboard/changes*', (route) => held.then(() => route.continue()));
    const document = await other.goto(stage.server.origin);
    expect(document?.headers()['cache-control']).toBe('private, no-cache');
    await other.getByText('Ada', { exact: true }).waitFor();
    await other.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await other.locator('.pull').first().waitFor();
    const selectAll = other.getByRole('button', { name: /^Select all/ });
    expect(await selectAll.isDisabled()).toBe(true);
    release();
    await eventually(async () => expect(await selectAll.isEnabled()).toBe(true));
    expect(requested.filter((path) => path.startsWith('/api'))).toEqual(['/api/dashboard/changes']);
    await other.close();
  });

  test('the CI button opens the checks of the commit', async () => {
    await row('Round taxes').getByRole('button', { name: 'CI of #2: Failing' }).click();
    const panel = page.getByRole('dialog', { name: 'Round taxes' });
    await panel.getByText('failed at “Run npm test”').waitFor();
    await panel.getByText('Expected 3, received 4').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await row('Send receipts').getByLabel('More for #1').click();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
  });

  test('a merge needs a confirmation; a double click and Escape do not merge', async () => {
    const merge = row('Send receipts').getByRole('button', { name: 'Merge #1', exact: true });
    await merge.dblclick();
    await page.getByRole('button', { name: 'Merge #1?' }).waitFor();
    await page.keyboard.press('Escape');
    await merge.waitFor();
    expect(pullRequest(1).state).toBe('OPEN');
    await pressAndConfirm(merge, 'Merge #1?');
    await said('acme/shop #1 was merged.');
    await shown(8);
    expect(pullRequest(1).state).toBe('MERGED');
  });

  test.each([
    ['Keep sessions', 'Update branch #3', 'Update #3?', 'is being updated'],
    ['Round taxes', 'Rerun checks #2', 'Rerun checks of #2?', 'is rerunning its failed checks'],
    ['Bump lodash', 'Dependabot: rebase #5', 'Ask Dependabot to rebase #5?', 'will be rebased by Dependabot'],
    ['Drop an old flag', 'Close #7', 'Close #7?', 'was closed'],
  ])('%s: %s', async (title, action, question, outcome) => {
    await row(title)
      .getByLabel(/^More for/)
      .click();
    await pressAndConfirm(row(title).getByRole('button', { name: action }), question);
    await said(outcome);
  });

  test('a snoozed row is hidden, shown on demand and unsnoozed', async () => {
    await page.keyboard.press('Escape');
    await shown(7);
    await row('Show the way').getByLabel('More for #1').click();
    await page.getByRole('button', { name: 'Snooze until tomorrow' }).click();
    await said('is snoozed until tomorrow');
    await shown(6);
    await openFilters();
    await page.getByRole('checkbox', { name: 'Snoozed (1 hidden)' }).check();
    await row('Show the way')
      .getByText(/^snoozed until/)
      .waitFor();
    await row('Show the way').getByLabel('More for #1').click();
    await page.getByRole('button', { name: 'Unsnooze' }).click();
    await said('is no longer snoozed');
    await page.getByRole('checkbox', { name: 'Snoozed' }).uncheck();
    await shown(7);
  });

  test('webhook updates wait behind a bar and move no rows until it is clicked', async () => {
    const bar = page.getByRole('button', { name: /^Show \d+ updates?$/ });
    await open('/repositories', 'Repositories');
    await page.getByRole('button', { name: 'Set up webhook for acme/shop' }).click();
    await said('Webhook for acme/shop set up.');
    await page.getByText('Tokens without the permission for webhooks').first().waitFor();
    await expectAccessible(page);
    await page.goto(stage.server.origin);
    await row('Sharpen the saw').waitFor();
    const before = await titles();
    forges.github.repositories[0]!.pullRequests.push(githubPullRequest(30, { title: 'Come at once' }));
    expect(await forges.github.deliver('acme/shop', { payload: { action: 'opened' } })).toEqual([204]);
    await bar.waitFor();
    expect(await titles()).toEqual(before);
    // The first update may contain only the results of earlier actions.
    await eventually(async () => {
      if (await bar.isVisible()) await bar.click({ timeout: 1_000 });
      expect(await row('Come at once').isVisible()).toBe(true);
    });
  });

  test('shortcuts navigate the list, select, merge, search and open the help', async () => {
    await page.reload();
    await row('Come at once').waitFor();
    const expectFocusOn = (title: string | undefined): Promise<void> =>
      eventually(async () => expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(title));
    const list = await titles();
    await page.keyboard.press('j');
    await expectFocusOn(list[0]);
    await page.keyboard.press('j');
    await expectFocusOn(list[1]);
    await page.keyboard.press('k');
    await expectFocusOn(list[0]);
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor({ state: 'hidden' });
    await page.keyboard.press('c');
    await page.locator('.panel .checks').getByRole('listitem').first().waitFor();
    await page.keyboard.press('Escape');
    await expectFocusOn(list[0]);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('search pull requests').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.type('come at');
    await shown(1);
    await page.keyboard.press('Tab');
    await page.locator('a.open').focus();
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('o')]);
    await popup.close();
    await page.bringToFront();
    await page.keyboard.press('m');
    await page.getByRole('button', { name: 'Merge #30?' }).waitFor();
    await page.waitForTimeout(CONFIRM_DELAY_MS);
    await page.keyboard.press('m');
    await said('acme/shop #30 was merged.');
    expect(pullRequest(30).state).toBe('MERGED');
    await clear();
  });

  test('a bulk action closes several pull requests', async () => {
    await page.getByLabel('Select #8,').check();
    await page.getByLabel('Select #6,').check();
    const bulk = page.getByRole('region', { name: 'Selected pull requests' });
    await bulk.getByText('2 selected').waitFor();
    await pressAndConfirm(bulk.getByRole('button', { name: 'Close (2)' }), 'Close 2 pull requests?');
    await said('Close: 2 of 2 done.');
    expect([pullRequest(8).state, pullRequest(6).state]).toEqual(['CLOSED', 'CLOSED']);
  });

  test('a filter is saved as a view, opened and deleted', async () => {
    await pressQuickFilter('Failing CI');
    await page.getByRole('button', { name: 'Failing CI', exact: true, pressed: true }).waitFor();
    const before = await titles();
    await page.getByLabel('Views: save or delete').click();
    await page.getByLabel('View name').fill('Failing CI');
    await page.getByRole('button', { name: 'Save view' }).click();
    await said('View “failing-ci” saved.');
    await clear();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `failing-ci ${before.length}`, exact: true }).click();
    await expectTitles(before);
    await page.getByLabel('Views: save or delete').click();
    await pressAndConfirm(page.getByRole('button', { name: 'Delete “failing-ci”' }), 'Delete view?');
    await said('View “failing-ci” deleted.');
    await page.getByRole('button', { name: /^failing-ci/ }).waitFor({ state: 'hidden' });
  });

  test('an ignored repository leaves the board and returns', async () => {
    await open('/repositories', 'Repositories');
    const tools = page.getByLabel('Pull requests of mona/tools');
    await waitForSave(page, '/api/repos/ignore', () => tools.uncheck());
    await open('/', 'Pull requests');
    await row('Show the way').waitFor();
    await row('Sharpen the saw').waitFor({ state: 'hidden' });
    await open('/repositories', 'Repositories');
    await waitForSave(page, '/api/repos/unignore', () => tools.check());
    await waitForSave(page, '/api/repos/auto-update-branch/enable', () =>
      page.getByLabel('Auto-update branches of mona/tools').check(),
    );
    await open('/', 'Pull requests');
    await row('Sharpen the saw').waitFor();
  });

  test('issues are listed and filtered', async () => {
    await page.getByRole('link', { name: 'Issues' }).click();
    await shown(2);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'bug' }).click();
    await shown(1);
    await expectTitles(['Receipts miss the tax number']);
    await clear();
    await page.getByLabel('Search issues').fill('umlauts');
    await shown(1);
  });

  test('a feed is created, read and deleted', async () => {
    await open('/settings', 'Settings');
    await page.getByLabel('Feed title').fill('reader');
    await page.getByRole('button', { name: 'Create feed' }).click();
    const url = await page.getByLabel('New feed link').inputValue();
    expect(await (await fetch(url)).text()).toContain('Sharpen the saw');
    await pressAndConfirm(page.getByRole('button', { name: 'Delete feed reader' }), 'Delete feed?');
    await said('Feed “reader” deleted.');
    expect((await fetch(url)).status).toBe(404);
  });

  test('theme and time zone are synced to other browsers', async () => {
    const setTheme = (name: string) => waitForSave(page, '/api/settings/theme', () => page.getByLabel(name).check());
    await open('/settings', 'Settings');
    await setTheme('Dark');
    await page.getByLabel('Time zone', { exact: true }).selectOption('Asia/Tokyo');
    await said('Time zone updated.');
    await page.evaluate(() => localStorage.clear());
    await open('/settings', 'Settings');
    await page.locator('html[style*="color-scheme: dark"]').waitFor();
    await eventually(async () =>
      expect(await page.getByLabel('Time zone', { exact: true }).inputValue()).toBe('Asia/Tokyo'),
    );
    await setTheme('System');
  });

  test('a shared board is read-only', async () => {
    await open('/admin', 'Admin');
    await page.getByLabel('Username', { exact: true }).fill('bob');
    await page.getByLabel('Display name').fill('Bob');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByLabel('Send this link to the new user').inputValue();
    const context = await stage.enter();
    await signUpByRequest(context, link, 'bob');
    const guest = await context.newPage();
    await open('/settings', 'Settings');
    const sharing = page.getByRole('region', { name: 'Sharing' });
    await sharing.getByLabel('Username').fill('bob');
    await sharing.getByRole('button', { name: 'Share', exact: true }).click();
    await said('bob can now view your board.');
    await guest.goto(stage.server.origin);
    await guest.getByLabel('Board of').selectOption('Ada');
    await guest.getByText('Sharpen the saw').waitFor();
    // Rows are drawn completely, so their buttons need no waiting.
    expect(await guest.getByRole('button', { name: /^Merge/ }).count()).toBe(0);
    expect(await guest.getByRole('checkbox', { name: /^Select/ }).count()).toBe(0);
    // The board stays selected although the list of boards can't be read again, also at the second and third attempt.
    let attempts = 0;
    await guest.route('**/api/sharing', (route) => route.abort());
    guest.on('requestfailed', (request) => (attempts += Number(request.url().endsWith('/api/sharing'))));
    await guest.getByRole('link', { name: 'Issues', exact: true }).click();
    await eventually(() => expect(attempts).toBe(3));
    await guest.getByRole('link', { name: 'Pull requests', exact: true }).click();
    await guest.getByText('Sharpen the saw').waitFor();
    expect(await guest.getByLabel('Board of').inputValue()).toBe('ada');
    await context.close();
  });
});
