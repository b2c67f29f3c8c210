import type { Locator, Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { FORGEJO_TOKEN } from '../forges/forgejo.js';
import { GITHUB_TOKEN } from '../forges/github.js';
import { githubPullRequest } from '../forges/github-state.js';
import { GITLAB_TOKEN } from '../forges/gitlab.js';
import { confirm, DEAF_MS, saved } from './acts.js';
import { expectAccessible } from './axe.js';
import type { BoardForges } from './board-forges.js';
import { describeInBrowser } from './chromium.js';
import { openForgeStage } from './forge-stage.js';
import type { ForgeStage } from './forge-stage.js';
import { signUp } from './sign-up.js';

describeInBrowser('the board, in a browser', () => {
  let forges: BoardForges;
  let stage: ForgeStage;
  let page: Page;

  beforeAll(async () => {
    stage = await openForgeStage({ elsewhere: ['https://github.com'] });
    ({ forges, page } = stage);
  });
  afterEach(() => {
    expect(stage.takeComplaints()).toEqual([]);
  });
  afterAll(() => stage.close());

  const rows = (): Locator => page.locator('li.pull');
  const row = (title: string): Locator => rows().filter({ hasText: title });
  /** What is listed now; right once something else has shown that the list is the one that is meant. */
  const titles = (): Promise<string[]> => page.locator('li.pull a.open').allTextContents();
  const expectTitles = (wanted: readonly string[]): Promise<void> =>
    eventually(async () => expect(await titles()).toEqual(wanted));
  const shown = (count: number): Promise<void> => page.getByText(new RegExp(`^${count} of \\d+ shown$`)).waitFor();
  const said = (text: string): Promise<void> => page.locator('.toast').filter({ hasText: text }).last().waitFor();
  const open = async (path: string, heading: string): Promise<void> => {
    await page.goto(stage.server.origin + path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  };
  const clear = (): Promise<void> => page.getByRole('button', { name: 'Clear filters' }).click();
  const pullRequest = (number: number) =>
    forges.github.repositories[0]!.pullRequests.find((one) => one.number === number)!;

  async function countRead(): Promise<number> {
    const answer = await page.request.get(`${stage.server.origin}/api/dashboard`);
    return ((await answer.json()) as { pullRequests: unknown[] }).pullRequests.length;
  }

  async function fillForge(name: string, url: string, token: string): Promise<void> {
    const form = page.getByRole('group', { name, exact: true });
    await form.getByLabel('Address').fill(url);
    await form.getByLabel('Username').fill('mona');
    await form.getByLabel('Token', { exact: true }).fill(token);
    await form.getByRole('button', { name: `Save ${name}` }).click();
    await said(`${name} is saved`);
  }

  test('forges are set up in the settings, tested, and fill the board', async () => {
    await page.getByText('No forge is set up yet.').waitFor();
    await page.getByRole('link', { name: 'Say where your pull requests are.' }).click();
    await fillForge('GitHub', forges.github.url, GITHUB_TOKEN);
    await fillForge('Forgejo or Gitea', forges.forgejo.url, FORGEJO_TOKEN);
    await fillForge('GitLab', forges.gitlab.url, GITLAB_TOKEN);
    await page.getByRole('button', { name: 'Test GitHub' }).click();
    await page.getByText('GitHub answers to mona: 1 repository.').waitFor();
    // What is read later waits behind a bar.
    await eventually(async () => expect(await countRead()).toBe(9));
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
  ])('the quick filter %s leaves %i', async (name, count) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name, exact: true, pressed: true }).waitFor();
    await shown(count);
    await eventually(async () => expect(await rows().count()).toBe(count));
  });

  test.each([
    ['Repository', 'mona/tools (Forgejo)', ['Sharpen the saw']],
    ['Author', 'lisa', ['Name the columns']],
    ['Label', 'billing', ['Send receipts as PDF']],
    ['CI', 'Failing', ['Round taxes']],
  ])('the select %s lists what has %s', async (label, option, found) => {
    await page.getByRole('combobox', { name: label, exact: true }).selectOption(option);
    await shown(1);
    await expectTitles(found);
    await clear();
    await shown(9);
  });

  test('titles are searched, sorted and grouped, and drafts shown on demand', async () => {
    await page.getByLabel('Search titles').fill('try');
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
    await page.getByLabel('Group by').selectOption('forge');
    const groups = page.getByRole('heading', { level: 2 });
    await eventually(async () => expect(await groups.allTextContents()).toEqual(['GitHub 8', 'GitLab 1', 'Forgejo 1']));
    await page.reload();
    await page.getByRole('heading', { name: 'GitHub 8' }).waitFor();
    await page.getByLabel('Group by').selectOption('whose turn it is');
    await page.getByLabel('Sort by').selectOption('last activity');
    await page.getByRole('checkbox', { name: 'Drafts' }).uncheck();
    await shown(9);
  });

  test('of two filters the later one stays, though the earlier one is kept late', async () => {
    const path = '**/api/settings/filter-state';
    const pill = (name: string) => page.getByRole('button', { name, exact: true });
    const kept = (): Promise<void> =>
      eventually(async () =>
        expect(await page.evaluate(() => localStorage.getItem('trellis-filters-unsent'))).toBeNull(),
      );
    // What was chosen before is no part of this.
    await kept();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(path, (route) => held.then(() => route.continue()), { times: 1 });
    await pill('Bots').click();
    await shown(1);
    await pill('All').click();
    await shown(9);
    release();
    await kept();
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.getByRole('button', { name: 'All', exact: true, pressed: true }).waitFor();
    await shown(9);
  });

  test('the board loads at most 60 kB of compressed scripts, and moves nothing as it does', async () => {
    const other = await stage.context.newPage();
    await other.addInitScript(`new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) window.shift = (window.shift ?? 0) + value;
    }).observe({ type: 'layout-shift', buffered: true })`);
    await other.goto(stage.server.origin);
    await other.locator('li.pull').first().waitFor();
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

  test('opened anew, the board asks for its rows alone: all else is in the document, which nothing keeps', async () => {
    const other = await stage.context.newPage();
    const asked: string[] = [];
    other.on('request', (request) => asked.push(new URL(request.url()).pathname));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await other.route('**/api/dashboard/stream*', (route) => held.then(() => route.continue()));
    const document = await other.goto(stage.server.origin);
    expect(document?.headers()['cache-control']).toBe('no-store');
    await other.getByText('Ada', { exact: true }).waitFor();
    await other.getByRole('heading', { name: 'Pull requests', level: 1 }).waitFor();
    await other.getByText('Loading …').waitFor();
    release();
    await other.locator('li.pull').first().waitFor();
    expect(asked.filter((path) => path.startsWith('/api'))).toEqual(['/api/dashboard/stream']);
    await other.close();
  });

  test('the CI pill opens what checked the commit', async () => {
    await row('Round taxes').getByRole('button', { name: 'CI of #2: Failing' }).click();
    await row('Round taxes').getByText('failed at “Run npm test”').waitFor();
    await row('Round taxes').getByText('Expected 3, received 4').waitFor();
    await row('Send receipts').getByLabel('More for #1').click();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
  });

  test('a merge is asked for twice: a double click and Escape do nothing', async () => {
    const merge = row('Send receipts').getByRole('button', { name: 'Merge #1' });
    await merge.dblclick();
    const asks = page.getByRole('button', { name: 'Really merge?' });
    await asks.waitFor();
    await page.keyboard.press('Escape');
    await merge.waitFor();
    expect(pullRequest(1).state).toBe('OPEN');
    await confirm(merge, 'Really merge?');
    await said('acme/shop #1 is merged.');
    await shown(8);
    expect(pullRequest(1).state).toBe('MERGED');
  });

  test.each([
    ['Keep sessions', 'Update branch #3', 'Really update?', 'is being brought up to date'],
    ['Round taxes', 'Run checks again #2', 'Really run?', 'has its failed checks run again'],
    ['Bump lodash', 'Dependabot: rebase #5', 'Really ask it?', 'is to be rebased by Dependabot'],
    ['Drop an old flag', 'Close #7', 'Really close?', 'is closed'],
  ])('%s: %s', async (title, action, question, outcome) => {
    await row(title)
      .getByLabel(/^More for/)
      .click();
    await confirm(row(title).getByRole('button', { name: action }), question);
    await said(outcome);
  });

  test('what is set aside goes, is shown on demand, and is taken up again', async () => {
    await page.keyboard.press('Escape');
    await shown(7);
    await row('Show the way').getByLabel('More for #1').click();
    await page.getByRole('button', { name: 'Set aside until tomorrow' }).click();
    await said('is set aside until tomorrow');
    await shown(6);
    await page.getByRole('checkbox', { name: 'Set aside (1 hidden)' }).check();
    await row('Show the way')
      .getByText(/^set aside until/)
      .waitFor();
    await row('Show the way').getByLabel('More for #1').click();
    await page.getByRole('button', { name: 'Take up again' }).click();
    await said('is on the board again');
    await page.getByRole('checkbox', { name: 'Set aside' }).uncheck();
    await shown(7);
  });

  test('what a forge tells waits behind a bar, and moves nothing until it is clicked', async () => {
    const bar = page.getByRole('button', { name: /^Show \d+ updates?$/ });
    await open('/repositories', 'Repositories');
    await page.getByRole('button', { name: 'Set up webhook of acme/shop' }).click();
    await said('GitHub tells of acme/shop from now on.');
    await page.getByText('The token may not set one up').first().waitFor();
    await expectAccessible(page);
    await page.goto(stage.server.origin);
    await row('Sharpen the saw').waitFor();
    const before = await titles();
    forges.github.repositories[0]!.pullRequests.push(githubPullRequest(30, { title: 'Come at once' }));
    expect(await forges.github.deliver('acme/shop', { payload: { action: 'opened' } })).toEqual([204]);
    await bar.waitFor();
    expect(await titles()).toEqual(before);
    // It may tell first of what the actions of before led to.
    await eventually(async () => {
      if (await bar.isVisible()) await bar.click({ timeout: 1_000 });
      expect(await row('Come at once').isVisible()).toBe(true);
    });
  });

  test('the keyboard alone walks the list, chooses, merges, searches and asks for help', async () => {
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
    await page.getByText('1 chosen').waitFor();
    await page.keyboard.press('x');
    await page.getByText('1 chosen').waitFor({ state: 'hidden' });
    await page.keyboard.press('c');
    await rows().first().locator('.checks').getByRole('listitem').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('search titles').waitFor();
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
    await page.getByRole('button', { name: 'Really merge?' }).waitFor();
    await page.waitForTimeout(DEAF_MS);
    await page.keyboard.press('m');
    await said('acme/shop #30 is merged.');
    expect(pullRequest(30).state).toBe('MERGED');
    await clear();
  });

  test('several are closed at once', async () => {
    await page.getByLabel('Choose #8,').check();
    await page.getByLabel('Choose #6,').check();
    const bulk = page.getByRole('region', { name: 'Chosen pull requests' });
    await bulk.getByText('2 chosen').waitFor();
    await confirm(bulk.getByRole('button', { name: 'Close (2)' }), 'Really, all 2?');
    await said('Close: 2 of 2 done.');
    expect([pullRequest(8).state, pullRequest(6).state]).toEqual(['CLOSED', 'CLOSED']);
  });

  test('a selection is kept as a view, opened and deleted', async () => {
    await page.getByRole('button', { name: 'Failing CI', exact: true }).click();
    await page.getByRole('button', { name: 'Failing CI', exact: true, pressed: true }).waitFor();
    const before = await titles();
    await page.getByLabel('Views: save or delete').click();
    await page.getByLabel('Name of the view').fill('What fails');
    await page.getByRole('button', { name: 'Save what is selected' }).click();
    await said('The view “what-fails” is kept.');
    await clear();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'View', exact: true }).selectOption('what-fails');
    await expectTitles(before);
    await page.getByLabel('Views: save or delete').click();
    await confirm(page.getByRole('button', { name: 'Delete “what-fails”' }), 'Really delete?');
    await said('The view “what-fails” is gone.');
    await page.getByRole('combobox', { name: 'View', exact: true }).waitFor({ state: 'hidden' });
  });

  test('repositories leave the board and come back', async () => {
    await open('/repositories', 'Repositories');
    const tools = page.getByLabel('Pull requests of mona/tools');
    await saved(page, '/api/repos/ignore', () => tools.uncheck());
    await open('/', 'Pull requests');
    await row('Show the way').waitFor();
    await row('Sharpen the saw').waitFor({ state: 'hidden' });
    await open('/repositories', 'Repositories');
    await saved(page, '/api/repos/unignore', () => tools.check());
    await saved(page, '/api/repos/auto-update-branch/enable', () =>
      page.getByLabel('Keep branches up to date of mona/tools').check(),
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
    await page.getByLabel('Search titles').fill('umlauts');
    await shown(1);
  });

  test('a feed is made, read and taken back', async () => {
    await open('/settings', 'Settings');
    await page.getByLabel('Title of the feed').fill('reader');
    await page.getByRole('button', { name: 'Make an address' }).click();
    const url = await page.getByLabel('The new address').inputValue();
    expect(await (await fetch(url)).text()).toContain('Sharpen the saw');
    await confirm(page.getByRole('button', { name: 'Take back reader' }), 'Really take back?');
    await said('The address of “reader” no longer works.');
    expect((await fetch(url)).status).toBe(404);
  });

  test('a theme and a time zone follow the person to another browser', async () => {
    const setTheme = (name: string) => saved(page, '/api/settings/theme', () => page.getByLabel(name).check());
    await open('/settings', 'Settings');
    await setTheme('Dark');
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await said('Times are shown in that zone');
    await page.evaluate(() => localStorage.clear());
    await open('/settings', 'Settings');
    await page.locator('html[style*="color-scheme: dark"]').waitFor();
    await eventually(async () => expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo'));
    await setTheme('As the system');
  });

  test('another person looks at the board, and can change nothing', async () => {
    await open('/admin', 'Admin');
    await page.getByLabel('Username', { exact: true }).fill('bob');
    await page.getByLabel('Their name').fill('Bob');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByLabel('Send this link to them').inputValue();
    const guest = await (await stage.enter()).newPage();
    await signUp(guest, link, 'bob');
    await open('/settings', 'Settings');
    const sharing = page.getByRole('region', { name: 'Sharing' });
    await sharing.getByLabel('Username').fill('bob');
    await sharing.getByRole('button', { name: 'Share', exact: true }).click();
    await said('bob may read your board.');
    await guest.reload();
    await guest.getByLabel('Board of').selectOption('Ada');
    await guest.getByText('Sharpen the saw').waitFor();
    // Rows come whole.
    expect(await guest.getByRole('button', { name: /^Merge/ }).count()).toBe(0);
    expect(await guest.getByRole('checkbox', { name: /^Choose/ }).count()).toBe(0);
    await guest.context().close();
  });
});
