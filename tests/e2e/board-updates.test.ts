import type { Page } from 'playwright-core';
import { githubPullRequest } from '../forges/github-state.js';
import { eventually, openBoardStage } from './board-stage.js';
import type { BoardPage, BoardStage } from './board-stage.js';
import { describeInBrowser } from './chromium.js';

describeInBrowser('how the board follows what happens', () => {
  let stage: BoardStage;
  let page: Page;
  let at: BoardPage;
  const bar = () => page.getByRole('button', { name: /^Show \d+ updates?$/ });
  const pullRequests = () => stage.forges.github.repositories[0]!.pullRequests;

  beforeAll(async () => {
    stage = await openBoardStage();
    ({ page, at } = stage);
    await at.open('/repositories', 'Repositories');
    await page.getByRole('button', { name: 'Set up webhook of acme/shop' }).click();
    await at.said('GitHub tells of acme/shop from now on.');
    await page.getByRole('link', { name: 'Pull requests', exact: true }).first().click();
    await at.shown(9);
  });
  afterAll(() => stage.close());

  /** Something new, of which the forge tells. */
  async function tell(
    number: number,
    title: string,
    facts: Parameters<typeof githubPullRequest>[1] = {},
  ): Promise<void> {
    pullRequests().push(githubPullRequest(number, { title, updatedAt: new Date().toISOString(), ...facts }));
    expect(await stage.forges.github.deliver('acme/shop', { payload: { action: 'opened' } })).toEqual([204]);
  }

  test('while updates are paused nothing is even counted', async () => {
    await page.getByLabel('Pause updates').check();
    await eventually(() => page.title(), '(3) Pull requests · Trellis');
    await tell(50, 'Come in a pause', { author: 'lisa', requested: ['mona'] });
    // Whose turn it is the title tells at once.
    await eventually(() => page.title(), '(4) Pull requests · Trellis');
    expect(await bar().count()).toBe(0);
    await page.getByLabel('Pause updates').uncheck();
    await bar().click();
    await at.row('Come in a pause').waitFor();
  });

  test('what changed since the last visit is marked, until it was seen', async () => {
    await eventually(() => page.locator('.chip.new').count(), 0);
    await leave();
    await tell(51, 'Come while away');
    await eventually(async () => (await readBoard()).includes('Come while away'), true);
    await page.reload();
    await at.row('Come while away').getByText('new', { exact: true }).waitFor();
    expect(await at.row('Send receipts').getByText('new', { exact: true }).count()).toBe(0);
    await leave();
    await page.reload();
    await at.row('Come while away').waitFor();
    await eventually(() => page.locator('.chip.new').count(), 0);
  });

  test('a stream that breaks is told of, and taken up again', async () => {
    stage.takeComplaints();
    await page.route('**/api/dashboard/stream*', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The server could not be reached. Try again.').waitFor();
    await page.unroute('**/api/dashboard/stream*');
    await at.shown(11);
    await page.getByRole('alert').getByText('The server could not be reached.').waitFor({ state: 'detached' });
    await tell(52, 'Come after the break');
    await bar().click();
    await at.row('Come after the break').waitFor();
  });

  /** As another program would, in the same session. */
  async function readBoard(): Promise<string> {
    return page.evaluate(async () => (await fetch('/api/dashboard?includeSnoozed=true')).text());
  }

  /** What a browser tells a page that is left. */
  async function leave(): Promise<void> {
    const saved = page.waitForResponse((answer) => answer.url().endsWith('/api/dashboard/visit'));
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    expect((await saved).status()).toBe(204);
  }
});
