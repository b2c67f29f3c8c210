import type { Page, Request } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { githubPullRequest } from '../../forges/github-state.js';
import { describeInBrowser } from '../support/chromium.js';
import { eventuallyEquals, openBoardFixture, type BoardActions, type BoardFixture } from './board-fixture.js';

describeInBrowser('updates of the board', () => {
  let stage: BoardFixture;
  let page: Page;
  let at: BoardActions;
  const bar = () => page.getByRole('button', { name: /^Show \d+ updates?$/ });
  const pullRequests = () => stage.forges.github.repositories[0]!.pullRequests;

  beforeAll(async () => {
    stage = await openBoardFixture();
    ({ page, at } = stage);
    await at.open('/repositories', 'Repositories');
    await page.getByRole('button', { name: 'Set up webhook for acme/shop' }).click();
    await at.said('Webhook for acme/shop set up.');
    await page.getByRole('link', { name: 'Pull requests', exact: true }).first().click();
    await at.shown(9);
  });
  afterAll(() => stage.close());

  /** Opens a pull request at the forge, which delivers it to the webhook. */
  async function openPullRequest(
    number: number,
    title: string,
    facts: Parameters<typeof githubPullRequest>[1] = {},
  ): Promise<void> {
    pullRequests().push(githubPullRequest(number, { title, updatedAt: new Date().toISOString(), ...facts }));
    await deliver('opened');
  }

  /** Delivers a change of a pull request, and the end of its checks, after which the server reads within seconds. */
  async function deliver(action: string): Promise<void> {
    const { github } = stage.forges;
    expect(await github.deliver('acme/shop', { payload: { action } })).toEqual([204]);
    expect(await github.deliver('acme/shop', { name: 'check_run', payload: { action: 'completed' } })).toEqual([204]);
  }

  test('paused updates are not counted', async () => {
    await page.getByLabel('Pause updates').check();
    await eventuallyEquals(() => page.title(), '(3) Pull requests · Trellis');
    await openPullRequest(50, 'Come in a pause', { author: 'lisa', requested: ['mona'] });
    // The title counts the pull requests that wait for the user even while updates are paused.
    await eventuallyEquals(() => page.title(), '(4) Pull requests · Trellis');
    expect(await bar().count()).toBe(0);
    await page.getByLabel('Pause updates').uncheck();
    await bar().click();
    await at.row('Come in a pause').waitFor();
  });

  test('pull requests that changed since the last visit are marked as new until they are seen', async () => {
    await eventuallyEquals(() => page.locator('.chip.new').count(), 0);
    await leave();
    await openPullRequest(51, 'Come while away');
    await eventuallyEquals(async () => (await readBoard()).includes('Come while away'), true);
    await page.reload();
    await at.row('Come while away').getByText('new', { exact: true }).waitFor();
    expect(await at.row('Send receipts').getByText('new', { exact: true }).count()).toBe(0);
    await leave();
    await page.reload();
    await at.row('Come while away').waitFor();
    await eventuallyEquals(() => page.locator('.chip.new').count(), 0);
  });

  test('a broken stream shows an error and is opened again', async () => {
    stage.takeComplaints();
    await page.route('**/api/dashboard/changes*', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
    await page.unroute('**/api/dashboard/changes*');
    await at.shown(11);
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor({ state: 'detached' });
    await openPullRequest(52, 'Come after the break');
    await bar().click();
    await at.row('Come after the break').waitFor();
  });

  test('a board is read without its stream while a proxy does not pass that on', async () => {
    await page.route('**/api/dashboard/changes*', () => undefined);
    await page.reload();
    await openPullRequest(53, 'Come without a stream');
    await at.row('Come without a stream').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0);
    await page.unroute('**/api/dashboard/changes*');
  });

  test('a stream that falls silent is reported until it arrives again', async () => {
    const tab = await stage.context.newPage();
    await tab.clock.install();
    await tab.goto(`${stage.server.origin}/`);
    await tab.locator('.pull').first().waitFor();
    const isPartOfStream = (url: URL): boolean => url.pathname === '/api/dashboard/changes';
    await tab.route(isPartOfStream, () => undefined);
    const error = tab.getByRole('alert').getByText('The server did not respond in time.');
    await eventually(async () => {
      await tab.clock.fastForward(30_000);
      expect(await error.count()).toBe(1);
    });
    await tab.unroute(isPartOfStream);
    await eventually(async () => {
      await tab.clock.fastForward(30_000);
      expect(await error.count()).toBe(0);
    });
    await tab.close();
  });

  test('a stream is opened again within seconds after a sleep', async () => {
    const isStream = (request: Request): boolean => new URL(request.url()).pathname === '/api/dashboard/changes';
    const [first] = await Promise.all([page.waitForRequest(isStream), page.reload()]);
    expect(first.headers()['last-event-id']).toBeUndefined();
    await at.rows.first().waitFor();
    // The id is that of the first event, which may arrive after the rows of the document.
    const again = page.waitForRequest(
      (request) => isStream(request) && request.headers()['last-event-id'] !== undefined,
      { timeout: 60_000 },
    );
    await page.evaluate(() => {
      const now = Date.now.bind(Date);
      let sleeps = 0;
      Date.now = () => now() + sleeps * 61_000;
      setInterval(() => (sleeps += 1), 3_000);
    });
    await again;
    await page.reload();
  });

  test('the button for updates covers no bulk action', async () => {
    await page.setViewportSize({ width: 390, height: 850 });
    await page.getByRole('button', { name: /^Select all/ }).click();
    await openPullRequest(54, 'Come during a selection');
    await bar().waitFor();
    const bulk = page.getByRole('region', { name: 'Selected pull requests' });
    const { y, height } = (await bar().boundingBox())!;
    expect(y + height).toBeLessThan((await bulk.boundingBox())!.y);
    await bar().click();
    await at.row('Come during a selection').waitFor();
  });

  test('an update neither scrolls back to a row that the user has left, nor drops the focus of its button', async () => {
    await page.setViewportSize({ width: 1200, height: 400 });
    await page.reload();
    await at.rows.nth(10).waitFor();
    await page.keyboard.press('j');
    await at.rows.first().locator('a.open:focus').waitFor();
    await page.mouse.click(2, 300);
    await page.evaluate(() => scrollTo(0, 500));
    const readPosition = (): Promise<number> => page.evaluate(() => scrollY);
    expect(await readPosition()).toBe(500);
    await openPullRequest(55, 'Come while scrolled');
    await bar().waitFor();
    expect(await readPosition()).toBe(500);
    await bar().press('Enter');
    await at.row('Come while scrolled').waitFor();
    await page.locator('h1:focus').waitFor();
    await page.setViewportSize({ width: 1200, height: 850 });
  });

  test('a refresh that ends after drafts were shown keeps them', async () => {
    let end = (): void => undefined;
    const isEnded = new Promise<void>((resolve) => (end = resolve));
    await page.route('**/api/dashboard/refresh?*', async (route) => {
      const response = await route.fetch();
      await isEnded;
      await route.fulfill({ response });
    });
    const refresh = page.getByRole('button', { name: 'Refresh', exact: true });
    await refresh.click();
    await page.getByLabel('Search pull requests').fill('is:draft');
    await at.row('Try another search').waitFor();
    end();
    await eventuallyEquals(() => refresh.getAttribute('aria-busy'), 'false');
    expect(await at.titles()).toEqual(['Try another search']);
    await page.unroute('**/api/dashboard/refresh?*');
    await page.getByLabel('Search pull requests').fill('');
  });

  test('the ages of rows grow while the page is open', async () => {
    const tab = await stage.context.newPage();
    await tab.clock.install();
    await tab.goto(`${stage.server.origin}/`);
    const age = tab.locator('.pull', { hasText: 'Come while scrolled' }).locator('time');
    expect(await age.textContent()).toMatch(/^(?:now|\d minutes? ago)$/);
    // With a response, the page would notice that its clock is ahead.
    await tab.route('**/api/**', () => undefined);
    await tab.clock.fastForward(3 * 3_600_000);
    await eventuallyEquals(() => age.textContent(), '3 hours ago');
    await tab.close();
  });

  test('a merge is refused while the commit that it would merge waits behind the updates bar', async () => {
    const one = pullRequests().find(({ number }) => number === 52)!;
    Object.assign(one, { headRefOid: 'e'.repeat(40), updatedAt: new Date().toISOString() });
    await deliver('synchronize');
    await bar().waitFor();
    await at.confirm(await at.button('Come after the break', 'Merge #52'), 'Merge #52?');
    await at.row('Come after the break').getByText('The branch has new commits since the board was read.').waitFor();
    expect(one.state).toBe('OPEN');
    expect(stage.takeComplaints()).toContain('409 POST /api/pull-requests/merge');
    await bar().press('Enter');
    await at.confirm(await at.button('Come after the break', 'Merge #52'), 'Merge #52?');
    await at.said('acme/shop #52 was merged.');
  });

  /** Reads the board with the page's session, independently of its stream. */
  async function readBoard(): Promise<string> {
    return page.evaluate(async () => (await fetch('/api/dashboard?includeSnoozed=true')).text());
  }

  /** Simulates that the page becomes hidden. */
  async function leave(): Promise<void> {
    const saved = page.waitForResponse((response) => response.url().endsWith('/api/dashboard/visit'));
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    expect((await saved).status()).toBe(204);
  }
});
